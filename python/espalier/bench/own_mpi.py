"""An MPI of the user's as a host to measure: found out from its launcher."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Optional

from espalier.bench.hosts import HOSTS, Host
from espalier.launch import launchers
from espalier.problem import Problem

_VERSION = re.compile(r"(?:Version:\s*|Open MPI\)\s*|OpenRTE\)\s*|Version\s+)(\d[\w.]*)")


def host(launcher: Path, compiler: Optional[Path] = None) -> Host:
    path = _program(launcher, "launcher")
    like = _like(path)
    version = _VERSION.search(_says(path))
    return replace(
        like,
        name=f"{like.name}-{version[1]}" if version else _in_one_word(path),
        title=f"{like.title} {version[1]}" if version else f"{like.title} ({path})",
        family=like.name,
        own_launcher=path,
        own_compiler=_program(compiler, "compiler") if compiler else _compiler_beside(path),
    )


def _program(path: Path, what: str) -> Path:
    """Not resolved: Debian's launchers find their MPI by the name they are called by."""
    found = shutil.which(str(path))
    if not found:
        raise Problem(f"{path} is no {what}: there is no such program")
    return Path(found).absolute()


def _says(launcher: Path) -> str:
    try:
        done = subprocess.run(
            [str(launcher), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _like(launcher: Path) -> Host:
    family = launchers.family_of(launcher, os.environ)
    if family is launchers.OPEN_MPI:
        return HOSTS["openmpi"]
    if family is launchers.HYDRA:
        return HOSTS["impi" if "Intel" in _says(launcher) else "mpich"]
    raise Problem(f"{launcher} is no launcher of MPICH, Intel MPI or Open MPI, as its --version says")


def _compiler_beside(launcher: Path) -> Path:
    """mpicc.mpich beside mpirun.mpich, mpicc beside mpirun; its own MPI's, however it is called."""
    suffix = launcher.name.partition(".")[2]
    names = [f"mpicc.{suffix}"] if suffix and suffix != "hydra" else []
    for name in [*names, "mpicc", "mpigcc"]:
        path = launcher.parent / name
        if os.access(path, os.X_OK):
            return path
    raise Problem(f"there is no mpicc beside {launcher}; name it: --mpicc /path/to/mpicc")


def _in_one_word(launcher: Path) -> str:
    return re.sub(r"[^\w.-]+", "-", str(launcher)).strip("-")
