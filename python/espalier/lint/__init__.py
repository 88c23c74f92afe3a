"""Calls of an MPI that cost more than they should, found without a program (docs/lint.md)."""
