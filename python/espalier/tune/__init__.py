"""Rules that fit this machine and this MPI, measured (docs/tuning.md)."""
