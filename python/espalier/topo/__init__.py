"""The machine, the ranks on it and their trees, as text and as a picture."""
