"""Which rank of a running job waits for which, seen from outside (docs/who.md)."""
