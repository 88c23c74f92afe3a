"""Where Espalier's own parts lie."""

from __future__ import annotations

import os
from pathlib import Path


def source_tree() -> Path:
    return Path(__file__).resolve().parents[2]


def library_folder() -> Path:
    """ESPALIER_LIB, else the build of the tree that this package was installed from."""
    named = os.environ.get("ESPALIER_LIB")
    return Path(named).absolute() if named else source_tree() / "build" / "lib"


def library(name: str) -> Path:
    return library_folder() / name


def environments() -> Path:
    return source_tree() / ".venv"
