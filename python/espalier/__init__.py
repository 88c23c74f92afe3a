"""The command of Espalier."""

__version__ = "0.1.0"
