"""What every test that starts an MPI job must know of launchers."""

# Open MPI's launcher now and then gives up before it has started anything (a busy machine); such a job is started again.
LAUNCHER_FAILED = "The PMIx server's listener thread failed to start"
