"""What `espalier tune` and `espalier lint` have in common: the calls, jobs of the host, times and their intervals."""
