"""What a run did."""
