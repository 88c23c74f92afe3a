"""Pages of plots and tables."""
