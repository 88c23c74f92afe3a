"""ELF files: what they need and where the loader finds it."""
