"""Where Espalier's own parts lie: in a clone, below the prefix of an installation, or in a wheel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from espalier.problem import Problem

try:  # written by the installation; a clone has no such module
    from espalier import installed  # type: ignore[attr-defined]
except ImportError:
    installed = None

_PACKAGE = Path(__file__).resolve().parent
_CLONE = _PACKAGE.parents[1]


def clone() -> Optional[Path]:
    """None where the command is installed."""
    return None if installed else _CLONE


def source_tree() -> Path:
    """The clone. Raises Problem where the command is installed: no sources are there to build or to measure with."""
    if installed:
        raise Problem("this needs Espalier's sources: run bin/espalier of a clone that `make build` has built")
    return _CLONE


def results(path: str) -> Path:
    """Where what a command has measured is written by default: below the clone's build folder, else in the current folder."""
    return Path(f"espalier-{Path(path).name}") if installed else _CLONE / "build" / path


def _part(way: str) -> Path:
    """Without `..`, and not resolved: what links lead to may lie elsewhere."""
    return Path(os.path.normpath(_PACKAGE / way))


def library_folder() -> Path:
    """ESPALIER_LIB, else that of the installation or of the clone's build."""
    named = os.environ.get("ESPALIER_LIB")
    if named:
        return Path(named).absolute()
    return _part(installed.LIB) if installed else _CLONE / "build" / "lib"


def library(name: str) -> Path:
    """By its version where it has one: libespalier.so may be missing, as programs are linked with it alone, or be text for the
    linker, as in a wheel."""
    path = library_folder() / name
    versioned = path.with_name(f"{name}.0")
    return versioned if versioned.exists() else path


def _beside(way: Optional[str], name: str) -> Path:
    """A program of the same build as the libraries."""
    if way is None or os.environ.get("ESPALIER_LIB"):
        return library_folder().parent / "bin" / name
    return _part(way) / name


def daemon() -> Path:
    return _beside(installed and installed.BIN, "espalier-aggd")


def helper(name: str) -> Path:
    """A program that only the command starts."""
    return _beside(installed and installed.HELPERS, name)


def include() -> Path:
    """The folder of the C headers."""
    return _part(installed.INCLUDE) if installed else _CLONE / "include"


def prefix() -> Path:
    """What CMAKE_PREFIX_PATH takes; of a clone the tree itself, which holds no configuration for CMake."""
    return _part(installed.PREFIX) if installed else _CLONE


def measuring() -> Path:
    """The sources of the programs that measure, which each MPI's own compiler builds."""
    return _PACKAGE / "measuring" if installed else _CLONE / "bench"


def environments() -> Path:
    """The MPIs that the clone has set up; nothing is there where the command is installed."""
    return (_PACKAGE if installed else _CLONE) / ".venv"


def build_facts() -> Path:
    return _PACKAGE / "espalier_build.json" if installed else _CLONE / "build" / "espalier_build.json"


def repair() -> str:
    """What to do where a part is not there or does not fit."""
    return "install Espalier again" if installed else "run `make build`"
