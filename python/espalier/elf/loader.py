"""Finds the libraries of a program in the order and places in which the dynamic loader would."""

from __future__ import annotations

import platform
import re
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Optional

from espalier.elf import file

DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


@dataclass(frozen=True)
class Loaded:
    """One needed library: `path` is None when the loader would not find it."""

    name: str
    path: Optional[Path]
    wanted_by: Path


@dataclass(frozen=True)
class _Object:
    elf: file.Elf
    parent: Optional[_Object]


@cache
def _cache() -> Mapping[str, tuple[str, ...]]:
    """ld.so.cache: name -> paths, best first."""
    for command in ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"):
        try:
            run = subprocess.run([command, "-p"], capture_output=True, text=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if run.returncode == 0:
            found: dict[str, list[str]] = {}
            for name, path in re.findall(r"^\s+(\S+) \(.*\) => (\S+)$", run.stdout, re.MULTILINE):
                found.setdefault(name, []).append(path)
            return {name: tuple(paths) for name, paths in found.items()}
    return {}


def is_found(name: str, environment: Mapping[str, str]) -> bool:
    """The loader finds such a library whatever a program's own search paths are."""
    folders = [folder for folder in re.split("[:;]", environment.get("LD_LIBRARY_PATH", "")) if folder]
    return name in _cache() or any((Path(folder) / name).exists() for folder in folders)


def _expand(folder: str, origin: Path) -> Path:
    for token, value in (("ORIGIN", str(origin)), ("LIB", "lib64"), ("PLATFORM", platform.machine())):
        folder = folder.replace(f"${{{token}}}", value).replace("$" + token, value)
    return Path(folder or ".")


def _origin(elf: file.Elf) -> Path:
    return elf.path.resolve().parent


def _folders(wanting: _Object, environment: Mapping[str, str]) -> Iterator[Path]:
    """RPATH of the object and of those that loaded it (unless it has a RUNPATH), LD_LIBRARY_PATH, RUNPATH."""
    if not wanting.elf.runpath:
        step: Optional[_Object] = wanting
        while step is not None:
            if not step.elf.runpath:
                yield from (_expand(folder, _origin(step.elf)) for folder in step.elf.rpath)
            step = step.parent
    search = environment.get("LD_LIBRARY_PATH")
    if search:
        yield from (_expand(folder, _origin(wanting.elf)) for folder in re.split("[:;]", search))
    yield from (_expand(folder, _origin(wanting.elf)) for folder in wanting.elf.runpath)


def _candidates(name: str, wanting: _Object, environment: Mapping[str, str]) -> Iterator[Path]:
    if "/" in name:
        yield _expand(name, _origin(wanting.elf))
        return
    yield from (folder / name for folder in _folders(wanting, environment))
    yield from (Path(path) for path in _cache().get(name, ()))
    yield from (Path(folder) / name for folder in DEFAULT_FOLDERS)


def _resolve(name: str, wanting: _Object, environment: Mapping[str, str]) -> Optional[file.Elf]:
    for path in _candidates(name, wanting, environment):
        elf = file.read(path) if path.is_file() else None
        if elf is not None and elf.fits(wanting.elf):
            return elf
    return None


def libraries(program: file.Elf, environment: Mapping[str, str]) -> Iterator[Loaded]:
    """Every library of the program, breadth first as the loader goes; those of LD_PRELOAD come first."""
    root = _Object(program, None)
    preloads = tuple(name for name in re.split("[: ]", environment.get("LD_PRELOAD", "")) if name)
    waiting = deque([(root, preloads + program.needed)])
    seen: set[str] = set()
    while waiting:
        wanting, names = waiting.popleft()
        for name in names:
            if name in seen:
                continue
            elf = _resolve(name, wanting, environment)
            seen.update({name} | ({elf.soname} if elf and elf.soname else set()))
            yield Loaded(name, elf.path if elf else None, wanting.elf.path)
            if elf is not None:
                waiting.append((_Object(elf, wanting), elf.needed))
