"""The command of Espalier, and where its libraries and headers lie."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.2.0"


def libraries() -> Path:
    """The folder of libespalier.so, and of the libraries to preload."""
    from espalier import install

    return install.library_folder()


def include() -> Path:
    """The folder of the C headers: cc -I$(python -c 'import espalier; print(espalier.include())')"""
    from espalier import install

    return install.include()


def prefix() -> Path:
    """What CMake's find_package(Espalier) takes in CMAKE_PREFIX_PATH."""
    from espalier import install

    return install.prefix()
