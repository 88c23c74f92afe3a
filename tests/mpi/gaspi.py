"""GASPI programs: how they are built, and how they are started with and without MPI."""

import os
import subprocess
from pathlib import Path

import hosts

EXAMPLES = hosts.REPOSITORY / "examples" / "gaspi"
FLAGS = ["-std=gnu11", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror", f"-I{hosts.REPOSITORY / 'include'}",
         f"-I{hosts.REPOSITORY / 'include' / 'gaspi'}"]
LIBRARIES = [f"-L{hosts.LIBRARIES}", "-lespalier-gaspi", "-lespalier", f"-Wl,-rpath,{hosts.LIBRARIES}"]


def program(name: str, sources: Path = EXAMPLES) -> Path:
    """One program for every host: it calls no function of MPI."""
    folder = hosts.BUILT / "gaspi"
    folder.mkdir(parents=True, exist_ok=True)
    target, source = folder / name, sources / f"{name}.c"
    if not hosts._newer(target, [source]):
        hosts._compile(["gcc", *FLAGS, str(source), *LIBRARIES], target)
    return target


def environment() -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("ESPALIER")}
    return {**env, "ESPALIER_LIB": str(hosts.LIBRARIES)}


def command(ranks: int, path: Path, *arguments) -> list[str]:
    return [str(hosts.REPOSITORY / "bin" / "espalier"), "run", "-n", str(ranks), str(path), *map(str, arguments)]


def without_mpi(ranks: int, path: Path, *arguments, timeout=120) -> hosts.Outcome:
    return hosts.run(command(ranks, path, *arguments), environment(), timeout, None)


def alone(path: Path, *arguments) -> subprocess.CompletedProcess:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("ESPALIER", "PMI_", "OMPI_"))}
    return subprocess.run([str(path), *map(str, arguments)], env=env, capture_output=True, text=True, timeout=60)
