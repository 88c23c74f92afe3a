"""Programs that exist already, with and without Espalier."""
