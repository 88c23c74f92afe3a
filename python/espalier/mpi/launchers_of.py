"""Whether a launcher can start a program as one job: it must belong to the program's MPI."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Callable, Optional

from espalier.elf import file, loader
from espalier.mpi import kinds

_OPEN_MPIS_OWN = re.compile(r"^lib(open-pal|open-rte)\.so|^libmpi\.so\.40")


def family(kind: kinds.Kind, library: Optional[Path]) -> Optional[kinds.Kind]:
    """MPICH's or Open MPI's launcher, or None where either might do."""
    if library is None:
        return None if kind is kinds.ABI else kind
    elf = file.read(library)
    if elf is None:
        return None
    if kind is kinds.OMPI or any(_OPEN_MPIS_OWN.match(name) for name in elf.needed):
        return kinds.OMPI
    # An MPICH that was built with PMIx meets its ranks under Open MPI's launcher, too.
    return None if _uses_pmix(elf) else kinds.MPICH


def _uses_pmix(elf: file.Elf) -> bool:
    return any(loaded.name.startswith("libpmix.so") for loaded in loader.libraries(elf, {}))


KindOf = Callable[[Path], Optional[kinds.Kind]]


def installed(
    wanted: kinds.Kind, library: Optional[Path], environment: Mapping[str, str], kind_of: KindOf
) -> Optional[Path]:
    """A launcher of that family: the one beside the library, else the first on PATH."""
    for path in _candidates(wanted, library, environment):
        if path.is_file() and os.access(path, os.X_OK) and kind_of(path) is wanted:
            return path
    return None


def _candidates(
    wanted: kinds.Kind, library: Optional[Path], environment: Mapping[str, str]
) -> Iterator[Path]:
    for part in [library, library.resolve()] if library else []:
        yield from (part.parent.parent / "bin" / name for name in ("mpirun", "mpiexec"))
    vendor = "openmpi" if wanted is kinds.OMPI else "mpich"
    for name in (f"mpirun.{vendor}", "mpirun", "mpiexec"):
        for folder in environment.get("PATH", os.defpath).split(os.pathsep):
            yield Path(folder or ".") / name
