"""Command lines of launchers: where the program is, what environment the job gets."""
