"""Decides which MPI a program will load: by what it links, by what its interpreter loads, else by its launcher."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional

from espalier.elf import file, loader
from espalier.launch.command_line import find
from espalier.mpi import kinds, python_probe, sanitizers


@dataclass(frozen=True)
class Finding:
    """`kind` is None when no build of Espalier is known to fit; `why` says what was seen in any case.

    guess: nothing about the program told, so its launcher's MPI is taken.
    first: runtimes of sanitizers that the program needs to be loaded before all others.
    """

    kind: Optional[kinds.Kind]
    why: str
    library: Optional[Path] = None
    guess: bool = False
    first: tuple[str, ...] = ()


def program(
    path: Path, environment: Mapping[str, str], folder: Optional[str], launcher: Optional[kinds.Kind]
) -> Finding:
    """`environment`: what the program will see; `launcher`: the MPI of the launcher that starts it, if that is known."""
    if python_probe.is_interpreter(path):
        return _python(path, environment, folder, launcher)
    if file.is_elf(path):
        return replace(_elf(path, environment, launcher), first=sanitizers.needed(path, environment))
    return _script(path, environment, folder, launcher)


def _by_launcher(why: str, launcher: Optional[kinds.Kind]) -> Finding:
    if launcher is None:
        return Finding(None, why)
    return Finding(launcher, f"{why}; its launcher belongs to {launcher.name}", guess=True)


def _of_library(path: Path, how: str) -> Finding:
    kind = kinds.of_library(path)
    if kind is None:
        return Finding(None, f"{how} {path}, an MPI that no build of Espalier fits", path)
    return Finding(kind, f"{how} {path}", path)


def _python(
    path: Path, environment: Mapping[str, str], folder: Optional[str], launcher: Optional[kinds.Kind]
) -> Finding:
    answer = python_probe.ask(path, environment, folder)
    if answer.library is not None:
        return _of_library(answer.library, f"mpi4py of {path} loads")
    return _by_launcher(answer.trouble, launcher)


def _elf(path: Path, environment: Mapping[str, str], launcher: Optional[kinds.Kind]) -> Finding:
    elf = file.read(path)
    if elf is None:
        return Finding(None, f"{path} cannot be read as an ELF file")
    own = file.read(Path("/proc/self/exe"))
    if own is not None and not elf.fits(own):
        return Finding(None, f"{path} is for another processor ({elf.machine}, {elf.bits} bit)")
    for loaded in loader.libraries(elf, environment):
        if kinds.is_mpi(loaded.name):
            return _needed(path, loaded)
    if file.defines(path, "MPI_Init", only_dynamic=False):
        return Finding(None, f"{path} has its MPI linked in statically, out of reach of LD_PRELOAD")
    if not elf.dynamic:
        return Finding(None, f"{path} is linked statically, out of reach of LD_PRELOAD")
    return _by_launcher(f"{path} links no MPI", launcher)


def _needed(path: Path, loaded: loader.Loaded) -> Finding:
    through = "" if loaded.wanted_by == path else f" through {loaded.wanted_by}"
    if loaded.path is not None:
        return _of_library(loaded.path, f"{path} links{through}")
    # The launcher may still make it findable; the name tells the family.
    why = f"{path} links{through} {loaded.name}, which is on no search path here"
    return Finding(kinds.of_name(loaded.name), why)


def interpreter(path: Path) -> list[str]:
    """The words of a "#!" line, with `env` stepped over."""
    with open(path, "rb") as script:
        first = script.readline(4096).decode(errors="replace").strip()
    if not first.startswith("#!"):
        return []
    words = first[2:].split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and not re.match(r"\w+=", word)]
    return words


def _script(
    path: Path, environment: Mapping[str, str], folder: Optional[str], launcher: Optional[kinds.Kind]
) -> Finding:
    try:
        words = interpreter(path)
    except OSError as error:
        return Finding(None, f"{path} cannot be read ({error.strerror})")
    runs = find(words[0], environment, folder) if words else None
    if runs is not None and python_probe.is_interpreter(runs):
        return _python(runs, environment, folder, launcher)
    return _by_launcher(
        f"{path} is a script for {words[0] if words else 'the shell'}, which may start anything", launcher
    )
