"""The few things of an ELF file that decide which libraries it loads."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Optional

from espalier.elf.image import Image, Malformed

_DT_NEEDED, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 14, 15, 29
_TROUBLE = (OSError, Malformed, struct.error)
# For messages; others are told by their number in the ELF header.
_MACHINES = {3: "i386", 21: "ppc64", 22: "s390", 40: "arm", 62: "x86-64", 183: "aarch64", 243: "riscv", 258: "loongarch"}


@dataclass(frozen=True)
class Elf:
    path: Path
    machine: str
    bits: int
    dynamic: bool
    soname: Optional[str]
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]

    def fits(self, other: Elf) -> bool:
        """The loader passes over libraries of another architecture."""
        return (self.machine, self.bits) == (other.machine, other.bits)


def is_elf(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


@contextmanager
def _image(path: Path) -> Iterator[Image]:
    """Raises one of _TROUBLE."""
    with open(path, "rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # an empty file
            raise Malformed(str(error)) from error
        with data:
            yield Image(data)


@cache
def read(path: Path) -> Optional[Elf]:
    """None when the file cannot be read as ELF."""
    try:
        with _image(path) as image:
            return _read(path, image)
    except _TROUBLE:
        return None


def _read(path: Path, image: Image) -> Elf:
    def folders(tag: int) -> tuple[str, ...]:
        return tuple(part for text in image.texts(tag) for part in text.split(":"))

    return Elf(
        path=path,
        machine=_MACHINES.get(image.machine, f"number {image.machine}"),
        bits=image.bits,
        dynamic=image.dynamic is not None,
        soname=next(iter(image.texts(_DT_SONAME)), None),
        needed=tuple(image.texts(_DT_NEEDED)),
        rpath=folders(_DT_RPATH),
        runpath=folders(_DT_RUNPATH),
    )


def defines(path: Path, symbol: str, only_dynamic: bool = True) -> bool:
    """Whether the file itself defines the symbol. `only_dynamic`: where the loader would find it."""
    try:
        with _image(path) as image:
            return _defines(image, symbol.encode(), only_dynamic)
    except _TROUBLE:
        return False


def _defines(image: Image, symbol: bytes, only_dynamic: bool) -> bool:
    # The hash tables answer at once; reading a whole symbol table of an MPI takes long.
    hashed, defined = image.dynamic_symbol(symbol)
    if defined is not None:
        return defined
    return not (hashed and only_dynamic) and image.symbol(symbol)
