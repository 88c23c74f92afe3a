"""Starting a program with Espalier."""
