"""Aggregation nodes beside messages, over emulated nodes."""
