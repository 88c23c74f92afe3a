"""Measuring Espalier against the host MPIs: the jobs, and the machine they run on."""
