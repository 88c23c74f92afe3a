"""The few things of an ELF file that decide which libraries it loads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Optional, TypeVar

# elftools is loaded where a file is read: that takes as long as the start of Python, and most commands read none.
if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

Found = TypeVar("Found")


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


def _of_file(path: Path, look: Callable[[ELFFile], Found], otherwise: Found) -> Found:
    """`otherwise`: when the file cannot be read as ELF."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with open(path, "rb") as file:
            return look(ELFFile(file))
    except (OSError, ELFError, UnicodeDecodeError):
        return otherwise


@cache
def read(path: Path) -> Optional[Elf]:
    """None when the file cannot be read as ELF."""
    return _of_file(path, lambda elf: _read(path, elf), None)


def _read(path: Path, elf: ELFFile) -> Elf:
    from elftools.elf.dynamic import DynamicSegment

    values: dict[str, list[str]] = {"DT_NEEDED": [], "DT_RPATH": [], "DT_RUNPATH": [], "DT_SONAME": []}
    dynamic = False
    for segment in elf.iter_segments():
        if not isinstance(segment, DynamicSegment):
            continue
        dynamic = True
        for tag in segment.iter_tags():
            name = tag.entry.d_tag
            if name in values:
                values[name].append(getattr(tag, name[3:].lower()))
    return Elf(
        path=path,
        machine=elf["e_machine"],
        bits=elf.elfclass,
        dynamic=dynamic,
        soname=next(iter(values["DT_SONAME"]), None),
        needed=tuple(values["DT_NEEDED"]),
        rpath=tuple(part for text in values["DT_RPATH"] for part in text.split(":")),
        runpath=tuple(part for text in values["DT_RUNPATH"] for part in text.split(":")),
    )


@dataclass(frozen=True)
class Loaded:
    """A part of the file that the loader maps."""

    offset: int
    bytes: int
    address: int


@cache
def loaded(path: Path) -> tuple[Loaded, ...]:
    """None when the file cannot be read as ELF."""
    return _of_file(path, _loaded, ())


def _loaded(elf: ELFFile) -> tuple[Loaded, ...]:
    segments = [each for each in elf.iter_segments() if each["p_type"] == "PT_LOAD"]
    return tuple(Loaded(each["p_offset"], each["p_filesz"], each["p_vaddr"]) for each in segments)


def defines(path: Path, symbol: str, only_dynamic: bool = True) -> bool:
    """Whether the file itself defines the symbol. `only_dynamic`: where the loader would find it."""
    return _of_file(path, lambda elf: _defines(elf, symbol, only_dynamic), False)


def _defines(elf: ELFFile, symbol: str, only_dynamic: bool) -> bool:
    from elftools.elf.hash import ELFHashSection, GNUHashSection
    from elftools.elf.sections import SymbolTableSection

    # The hash sections answer at once; reading a whole symbol table of an MPI takes a second.
    hashes = [
        section for section in elf.iter_sections() if isinstance(section, (GNUHashSection, ELFHashSection))
    ]
    found = hashes[0].get_symbol(symbol) if hashes else None
    if found is not None:
        return found["st_shndx"] != "SHN_UNDEF"
    if hashes and only_dynamic:
        return False
    tables = [section for section in elf.iter_sections() if isinstance(section, SymbolTableSection)]
    return any(
        entry["st_shndx"] != "SHN_UNDEF"
        for table in tables
        for entry in (table.get_symbol_by_name(symbol) or [])
    )
