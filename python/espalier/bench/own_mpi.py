"""An MPI of the user's as a host to measure: found out from its launcher."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Optional

from espalier import install
from espalier.bench import batch_mpi
from espalier.bench.hosts import HOSTS, Host
from espalier.launch import intel, launchers, starting
from espalier.launch.family import Family
from espalier.problem import Problem

_VERSION = re.compile(r"(?:Version:\s*|Open MPI\)\s*|OpenRTE\)\s*|Version\s+)(\d[\w.]*)")


def if_installed() -> Optional[str]:
    """The launcher that an installed command measures by default. None in a clone, which has MPIs of its own."""
    return None if install.clone() else on_path()


def on_path() -> str:
    """Where none is named."""
    found = shutil.which("mpirun")
    if not found:
        others = [name for name in launchers.SIDE_BY_SIDE if shutil.which(name)]
        there = f", but {' and '.join(others)}" if others else ""
        example = others[0] if others else "/path/to/mpirun"
        raise Problem(f"there is no mpirun on PATH{there}; name the launcher of your MPI: --mpirun {example}")
    return found


def named(text: str, compiler: Optional[Path] = None) -> Host:
    """`--mpirun`: a launcher by its path or as PATH has it; behind one of a batch system also its options ("srun --mpi=pmix")."""
    words = [text] if shutil.which(text) else shlex.split(text)
    if not words:
        raise Problem("--mpirun names no launcher")
    first = words[0] if os.sep in words[0] else shutil.which(words[0]) or f"./{words[0]}"
    return host(Path(first), compiler, tuple(words[1:]))


def host(launcher: Path, compiler: Optional[Path] = None, options: tuple[str, ...] = ()) -> Host:
    path = _program(launcher, "launcher")
    own = _program(compiler, "compiler") if compiler else None
    family = launchers.family_of(path, os.environ)
    if family is not None and starting.by_daemons(path, family):
        return batch_mpi.host(path, family, own or _compiler_of_path(path), options)
    if options:
        raise Problem(f"{' '.join(options)}: {path} takes no further options; only those of batch systems (srun ...) do")
    like = _like(path, family)
    version = _VERSION.search(_says(path))
    return replace(
        like,
        name=f"{like.name}-{version[1]}" if version else _in_one_word(path),
        title=f"{like.title} {version[1]}" if version else f"{like.title} ({path})",
        family=like.name,
        own_launcher=path,
        own_compiler=own or _compiler_beside(path),
    )


def _program(path: Path, what: str) -> Path:
    """Not resolved: Debian's launchers find their MPI by the name they are called by."""
    found = shutil.which(str(path))
    if not found:
        raise Problem(f"{path} is no {what}: there is no such program")
    return Path(found).absolute()


def _says(launcher: Path) -> str:
    """Intel's mpirun starts another MPI's mpiexec.hydra, which then answers, where its own is not the first on PATH."""
    environment = {**os.environ, **intel.settings(launcher, os.environ)}
    try:
        done = subprocess.run(
            [str(launcher), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _like(launcher: Path, family: Optional[Family]) -> Host:
    if family is launchers.OPEN_MPI:
        return HOSTS["openmpi"]
    if family is launchers.HYDRA:
        return HOSTS["impi" if "Intel" in _says(launcher) else "mpich"]
    raise Problem(f"{launcher} is no launcher of MPICH, Intel MPI or Open MPI, nor of a batch system, as its --version says")


def _compiler_of_path(launcher: Path) -> Path:
    found = shutil.which("mpicc")
    if not found:
        raise Problem(f"{launcher} starts ranks of any MPI, and there is no mpicc on PATH; name yours: --mpicc /path/to/mpicc")
    return Path(found).absolute()


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
