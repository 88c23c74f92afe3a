"""What ranks wrote about their last calls when they were ended, or at a signal (ESPALIER_FLIGHT=FILE): FILE.rank-N, the
record as it was, and behind it which files were mapped where (src/runtime/flight/dump.hpp)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from espalier.problem import Problem
from espalier.who import clock, look, places, processes, record
from espalier.who.look import Jobs

_MOST_BYTES = 64 << 20
_BOOT = "boot_id "  # in front of what the kernel calls the start of the machine


def is_there(file: str) -> bool:
    return bool(_paths(Path(file)))


def _paths(file: Path) -> list[Path]:
    pattern = re.compile(re.escape(file.name) + r"\.rank-\d+")
    try:
        return sorted(path for path in file.parent.iterdir() if pattern.fullmatch(path.name) and path.is_file())
    except OSError:
        return []


@dataclass(frozen=True)
class _Written:
    rank: record.Rank
    mappings: list[places.Mapping]
    boot: str  # of its machine; empty in files of before version 0.2


def _read(path: Path) -> list[_Written]:
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MOST_BYTES)
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror})") from error
    lines = data[record.BYTES :].decode("utf-8", "replace").splitlines()
    boot = next((line.removeprefix(_BOOT) for line in lines if line.startswith(_BOOT)), "")
    mappings = places.mappings_of(lines)
    return [_Written(rank, mappings, clock.boot_of(boot)) for rank in record.ranks_of(_reader(data))]


def _reader(data: bytes) -> record.Read:
    return lambda at, size: data[at : at + size]


def jobs(file: str) -> Jobs:
    """As the ranks were when they wrote; which of them lived on is not known."""
    found: Jobs = {}
    written = [each for path in _paths(Path(file)) for each in _read(path)]
    names = places.names_of(places.Addresses(each.mappings, look.addresses_of(each.rank, look.SHOWN)) for each in written)
    for each, named in zip(written, names):
        rank, at = each.rank, each.rank.moments[1][1]
        together = [other.rank for other in written if (other.boot, other.rank.job) == (each.boot, rank.job)]
        counts = clock.clock_of(together if each.boot else [rank])
        seen = look.seen_of(rank, counts, at, look.SHOWN, named)
        seen.state = processes.UNKNOWN
        seen.at_ns, seen.boot = at, each.boot
        found.setdefault(rank.job, []).append(seen)
    for seen_ranks in found.values():
        seen_ranks.sort(key=lambda seen: seen.rank)
    if not found:
        raise Problem(f"{file}.rank-* are no flight records of this version of Espalier")
    return found
