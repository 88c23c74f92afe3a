"""Random programs of MPI calls, compared with the host and with what each rank works out by itself (`make soak`)."""
