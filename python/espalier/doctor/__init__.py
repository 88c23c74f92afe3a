"""What Espalier needs on this machine, and what a job's calls lead to."""
