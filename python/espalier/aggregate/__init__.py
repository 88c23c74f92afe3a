"""Aggregation nodes in software: their tree, and the processes."""
