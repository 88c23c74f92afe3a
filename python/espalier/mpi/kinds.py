"""The MPI families that Espalier has a build for, and how to tell them by their library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.elf import file


@dataclass(frozen=True)
class Kind:
    name: str
    library: str
    serves: str


MPICH = Kind("mpich", "libespalier-mpich.so", "MPICH and Intel MPI (libmpi.so.12)")
OMPI = Kind("ompi", "libespalier-ompi.so", "Open MPI (libmpi.so.40)")
ABI = Kind("abi", "libespalier-abi.so", "the standard ABI of MPI 5 (libmpi_abi.so.1)")
KINDS = {kind.name: kind for kind in (MPICH, OMPI, ABI)}

# libmpi itself under its vendors' names, not its Fortran, C++ or tool companions (libmpifort, libmpi_mpifh ...).
_MPI = re.compile(r"^libmpi(ch|_abi|_cray|_gnu_\d+|_intel|_nvidia|_amd|_ibm)?\.so(?:\.(\d+)[\d.]*)?$")

# Defined by every Open MPI and by nothing else: Open MPI 1.10 called itself libmpi.so.12, as MPICH does.
_OPEN_MPI_SYMBOL = "ompi_mpi_comm_world"


def is_mpi(name: str) -> bool:
    return _MPI.match(Path(name).name) is not None


def of_name(name: str) -> Optional[Kind]:
    """By name alone, for a library that cannot be looked into."""
    match = _MPI.match(Path(name).name)
    if not match:
        return None
    vendor, major = match[1], match[2]
    if vendor == "_abi":
        return ABI if major == "1" else None
    if vendor is None and major == "40":
        return OMPI
    return MPICH if major == "12" and vendor != "_ibm" else None


def of_library(path: Path) -> Optional[Kind]:
    """By the library's own name for itself, confirmed by what it defines. None: no build of Espalier fits it."""
    elf = file.read(path)
    if elf is None:
        return None
    kind = of_name(elf.soname or path.resolve().name)
    if kind is not ABI and file.defines(path, _OPEN_MPI_SYMBOL) != (kind is OMPI):
        return None
    return kind
