"""Which MPI a program will load."""
