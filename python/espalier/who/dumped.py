"""What ranks wrote about their last calls when they were ended, or at a signal (ESPALIER_FLIGHT=FILE): FILE.rank-N, the
record as it was, and behind it which files were mapped where (src/runtime/flight/dump.hpp)."""

from __future__ import annotations

import re
from pathlib import Path

from espalier.problem import Problem
from espalier.who import clock, look, places, processes, record
from espalier.who.look import Jobs

_MOST_BYTES = 64 << 20


def is_there(file: str) -> bool:
    return bool(_paths(Path(file)))


def _paths(file: Path) -> list[Path]:
    pattern = re.compile(re.escape(file.name) + r"\.rank-\d+")
    try:
        return sorted(path for path in file.parent.iterdir() if pattern.fullmatch(path.name) and path.is_file())
    except OSError:
        return []


def _reader(data: bytes) -> record.Read:
    return lambda at, size: data[at : at + size]


def jobs(file: str) -> Jobs:
    """As the ranks were when they wrote; which of them lived on is not known."""
    found: Jobs = {}
    for path in _paths(Path(file)):
        try:
            with open(path, "rb") as stream:
                data = stream.read(_MOST_BYTES)
        except OSError as error:
            raise Problem(f"{path} cannot be read ({error.strerror})") from error
        ranks = record.ranks_of(_reader(data))
        mappings = places.mappings_of(data[record.BYTES :].decode("utf-8", "replace").splitlines())
        for rank in ranks:
            at = rank.moments[1][1]
            seen = look.seen_of(rank, clock.clock_of([rank]), at, look.SHOWN, mappings)
            seen.state = processes.UNKNOWN
            found.setdefault(rank.job, []).append(seen)
    for seen_ranks in found.values():
        seen_ranks.sort(key=lambda seen: seen.rank)
    if not found:
        raise Problem(f"{file}.rank-* are no flight records of this version of Espalier")
    return found
