"""From return addresses in a process to functions and lines of its program."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from espalier.elf import file as elf
from espalier.stats import sites

_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ..x. ([0-9a-f]+) \S+ \d+\s+(/.*)")


@dataclass(frozen=True)
class Mapping:
    begin: int
    end: int
    offset: int
    path: str


@dataclass(frozen=True)
class Addresses:
    """In one process."""

    mappings: list[Mapping]
    wanted: frozenset[int]


def names_of(processes: Iterable[Addresses]) -> list[dict[int, str]]:
    """Of each process its addresses, which are as they were where no file is mapped. All are asked for together: what reads the
    symbols of a file takes longer to start than to answer."""
    frames = [{address: _frame(address, each.mappings) for address in each.wanted if address} for each in processes]
    names = sites.names([frame for of_process in frames for frame in of_process.values() if frame])
    return [
        {address: str(names[sites.key(frame)]) if frame else f"{address:#x}" for address, frame in of_process.items()}
        for of_process in frames
    ]


def of_process(pid: int) -> list[Mapping]:
    """None where it is gone, or may not be looked at."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            return mappings_of(file)
    except OSError:
        return []


def mappings_of(lines: Iterable[str]) -> list[Mapping]:
    """Those with code, of lines as /proc/PID/maps has them."""
    found = []
    for line in lines:
        match = _LINE.match(line)
        if match:
            begin, end, offset = (int(match[at], 16) for at in (1, 2, 3))
            found.append(Mapping(begin, end, offset, match[4].rstrip()))
    return sorted(found, key=lambda each: each.begin)


def files_of(pid: int) -> set[str]:
    """That have code in the process."""
    return {mapping.path for mapping in of_process(pid)}


def _frame(address: int, mappings: list[Mapping]) -> Optional[dict[str, Any]]:
    """As the statistics have it: the file, and in its own numbering the last byte of the call."""
    at = bisect_right([each.begin for each in mappings], address - 1) - 1
    if at < 0 or address - 1 >= mappings[at].end:
        return None
    mapping = mappings[at]
    inside = address - 1 - mapping.begin + mapping.offset
    return {"file": mapping.path, "address": _numbered(mapping.path, inside), "symbol": ""}


def _numbered(path: str, offset: int) -> int:
    """The address that the file's own tables have for a place in it."""
    for segment in elf.loaded(Path(path)):
        if segment.offset <= offset < segment.offset + segment.bytes:
            return offset - segment.offset + segment.address
    return offset
