"""The algorithms on a simulated machine."""
