"""What a call would run, and why."""
