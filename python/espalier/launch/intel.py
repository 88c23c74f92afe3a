"""Intel MPI as a wheel comes without the script that sets its environment; this does what the script would."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Optional


def root_of(part: Path) -> Optional[Path]:
    """The installation that a program in bin/ or a library in lib/ belongs to, when it is Intel's."""
    for folder in (part.parent.parent, part.resolve().parent.parent):
        if (folder / "bin" / "impi_info").exists() and (folder / "lib" / "libmpi.so.12").exists():
            return folder
    return None


def _providers(root: Path) -> Optional[Path]:
    for folder in (root / "opt/mpi/libfabric/lib/prov", root / "lib"):
        if any(folder.glob("lib*-fi.so")):
            return folder
    return None


def _before(folder: Path, name: str, environment: Mapping[str, str]) -> Optional[str]:
    """The search path `name` with `folder` first; None when it is on it already."""
    parts = [part for part in environment.get(name, "").split(os.pathsep) if part]
    return None if str(folder) in parts else os.pathsep.join([str(folder), *parts])


def _path(root: Path, environment: Mapping[str, str]) -> Optional[str]:
    """Intel's mpirun is a script that starts whichever mpiexec.hydra comes first: it must be Intel's."""
    first = shutil.which("mpiexec.hydra", path=environment.get("PATH", os.defpath))
    return None if first and root_of(Path(first)) == root else _before(root / "bin", "PATH", environment)


def settings(part: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """What `environment` lacks to run under the Intel MPI that `part` belongs to; nothing when it belongs to none."""
    root = root_of(part)
    if root is None:
        return {}
    result = {
        "I_MPI_ROOT": None if environment.get("I_MPI_ROOT") else str(root),
        "LD_LIBRARY_PATH": _before(root / "lib", "LD_LIBRARY_PATH", environment),
        "PATH": _path(root, environment),
    }
    providers = _providers(root)
    if providers and not environment.get("FI_PROVIDER_PATH"):
        result["FI_PROVIDER_PATH"] = str(providers)
    return {name: value for name, value in result.items() if value is not None}
