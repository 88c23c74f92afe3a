"""Launchers: which words of a command line are one, and to which family it belongs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from espalier.launch.batch_launchers import FLUX, JSRUN, PALS, SLURM
from espalier.launch.family import Family
from espalier.launch.mpi_launchers import HYDRA, OPEN_MPI

__all__ = [
    "FLUX",
    "HYDRA",
    "JSRUN",
    "OPEN_MPI",
    "PALS",
    "SIDE_BY_SIDE",
    "SLURM",
    "Family",
    "family_of",
    "first_option",
    "is_launcher",
]

# What distributions call the launchers of several MPIs that are installed side by side, so that `mpirun` is one of them or none.
SIDE_BY_SIDE = ("mpirun.mpich", "mpirun.openmpi")
_LAUNCHER = re.compile(r"^(mpirun|mpiexec|orterun|prterun|prun|srun|jsrun)([.-].+)?$")
_FLUX_STARTS = ("run", "submit")


def is_launcher(words: Sequence[str], at: int) -> bool:
    name = Path(words[at]).name
    return _LAUNCHER.match(name) is not None or (name == "flux" and _behind_flux(words, at) is not None)


def first_option(words: Sequence[str], at: int) -> int:
    """Behind the launcher at `at`: behind both words of `flux run`."""
    return (_behind_flux(words, at) if Path(words[at]).name == "flux" else None) or at + 1


def _behind_flux(words: Sequence[str], at: int) -> Optional[int]:
    """None: another of Flux's commands, which starts no ranks by itself (`flux start`, `flux alloc`)."""
    at += 1
    while at < len(words) and words[at].startswith("-"):
        at += 1
    at += words[at : at + 1] == ["mini"]  # before version 0.48
    return at + 1 if at < len(words) and words[at] in _FLUX_STARTS else None


def family_of(launcher: Path, environment: Mapping[str, str]) -> Optional[Family]:
    """By the file's name where it tells, else by what the launcher says of itself."""
    for name in (launcher.name, launcher.resolve().name):
        if name.startswith("srun"):
            return SLURM
        if name.startswith("jsrun"):
            return JSRUN
        if name == "flux":
            return FLUX
        if name.startswith(("orterun", "prterun", "prun")) or name.endswith(".openmpi"):
            return OPEN_MPI
        if re.search(r"\.(hydra|gforker|mpich)$", name):
            return HYDRA
    return PALS if "pals" in launcher.resolve().parts else _by_version(launcher, environment)


def _by_version(launcher: Path, environment: Mapping[str, str]) -> Optional[Family]:
    try:
        run = subprocess.run(
            [str(launcher), "--version"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if re.search(r"Open MPI|OpenRTE|PRRTE", run.stdout):
        return OPEN_MPI
    if re.search(r"HYDRA|MPICH|Intel\(R\) MPI|MVAPICH", run.stdout, re.IGNORECASE):
        return HYDRA
    if re.search(r"\bPALS\b|^mpiexec version \d", run.stdout, re.MULTILINE):
        return PALS
    return SLURM if run.stdout.startswith("slurm") else None
