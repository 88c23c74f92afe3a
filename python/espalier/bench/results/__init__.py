"""What the rounds of a bench run say: statistics, goals and tables."""
