"""Builds the programs of bench/ for one host."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from espalier import install
from espalier.bench.hosts import Host
from espalier.install import source_tree
from espalier.launch import intel
from espalier.problem import Problem


def sources() -> list[Path]:
    """Of `compare`. `trials` has all of them but the one with its main function, and its own."""
    folder = install.measuring() / "mpi"
    found = sorted(folder.glob("*.[ch]"))
    if not found:
        raise Problem(f"{folder} holds no sources; {install.repair()}")
    return found


def _programs() -> Path:
    """Where what is built here is kept."""
    if install.installed:
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return Path(cache) / "espalier" / "programs"
    return source_tree() / "build" / "bench"


def _command(host: Host, files: list[Path], target: Path) -> list[str]:
    if host.own_compiler:
        words = [str(host.own_compiler), "-std=gnu11", "-O2", "-Wall", "-Wextra"]
        return [*words, *(str(path) for path in files if path.suffix == ".c"), "-o", str(target), "-ldl"]
    lib = host.library_folder
    compiler = os.environ.get("CC", "gcc")
    if not shutil.which(compiler):
        raise Problem(f"the C compiler '{compiler}' is not there; install gcc, or name one in CC")
    return [
        *(compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra"),
        *(f"-I{host.folder / 'include'}", *(str(path) for path in files if path.suffix == ".c")),
        *("-o", str(target), f"-L{lib}", f"-Wl,-rpath,{lib}", "-lmpi", "-ldl"),
    ]


def program(host: Host, name: str, files: list[Path]) -> Path:
    """The program of these sources for a host, built anew only if one of them is newer."""
    target = _programs() / host.programs / name
    newest = max(path.stat().st_mtime for path in files)
    if target.exists() and target.stat().st_mtime > newest:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # Under a name of its own until it is whole: another process may be building it too.
    unfinished = target.with_name(f"{name}.{os.getpid()}")
    environment = {**os.environ, **intel.settings(host.own_compiler, os.environ)} if host.own_compiler else None
    done = subprocess.run(_command(host, files, unfinished), capture_output=True, text=True, env=environment)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise Problem(f"cannot build {target} for {host.title}: {lines[0] if lines else 'the compiler says nothing'}")
    os.replace(unfinished, target)
    return target


def compare(host: Host) -> Path:
    return program(host, "compare", sources())


def trials(host: Host) -> Path:
    shared = [path for path in sources() if path.name != "compare.c"]
    return program(host, "trials", [*shared, *sorted((install.measuring() / "trials").glob("*.[ch]"))])
