"""What the ranks of a run had counted that did not reach MPI_Finalize, or is still running.

Each rank has its counters mapped from a file, FILE.rank-N beside the FILE of ESPALIER_STATS, so that they are there
whatever ended it. The layout is that of `Header` and `Row` in src/runtime/statistics/counters_file.hpp and counters.hpp.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.problem import Problem

_MAGIC = b"espalier counts\0"
_BYTE_ORDER = 0x01020304
_VERSION = 3
_HEADER = struct.Struct("@16sIIIIdqiiiI256s16s")
# calls, ticks, spin, progress, yield, sleep, ticks of waiting for the last rank, calls in which this was the last; bytes;
# of these calls by the bit width of the nanoseconds that the first rank came before it;
# kind, ranks of the communicator; in use, size class, collective, by the host
_SPREADS = 31
_ROW = struct.Struct(f"@8QQ{_SPREADS}QIiBBBBI24s24s40s344s")
_WAITS = ("spin", "progress", "yield", "sleep")
_MOST_BYTES = 1 << 30
# The ranks of one run start together; an older part is of another run.
_SAME_RUN_SECONDS = 600
_MOST_LAST = 16
_CLOCKS_DIFFER_SECONDS = 5  # those of a rank and of a file server


@dataclass
class Part:
    """One rank's."""

    rank: int
    ranks: int
    started: int
    host: str
    build: str
    is_partial: bool
    rows: list[dict[str, Any]]


def parts_of(file: Path) -> list[Part]:
    """Those of the newest run, by rank; none if the file is of a run that came later, and ended well."""
    found = [part for path in sorted(file.parent.glob(f"{_glob_escaped(file.name)}.rank-*")) if (part := _read(path))]
    if not found:
        return []
    newest = max(part.started for part in found)
    if file.exists() and file.stat().st_mtime > newest + _CLOCKS_DIFFER_SECONDS:
        return []
    ranks = next(part.ranks for part in found if part.started == newest)
    run = [part for part in found if part.ranks == ranks and newest - part.started <= _SAME_RUN_SECONDS]
    return sorted(run, key=lambda part: part.rank)


def report_of(parts: list[Part]) -> dict[str, Any]:
    """As rank 0 writes it at MPI_Finalize, of the ranks that there are; `counted` says how many."""
    sums: dict[tuple, dict[str, Any]] = {}
    for rank, row in ((part.rank, row) for part in parts for row in part.rows):
        key = tuple(row[name] for name in ("size", "index", "size_class", "algorithm", "transport", "by_host", "why"))
        nothing = {"calls": 0, "by_rank": {}, "wait": dict.fromkeys(_WAITS, 0), "last": {}, "waited": 0.0, "carried": 0}
        nothing["spread"] = [0] * _SPREADS
        total = sums.setdefault(key, {**row, **nothing})
        total["calls"] += row["calls"]
        total["by_rank"][rank] = total["by_rank"].get(rank, 0.0) + row["seconds"]
        total["waited"] += row["waited"]
        total["carried"] += row["carried"]
        total["spread"] = [one + more for one, more in zip(total["spread"], row["spread"])]
        total["last"][rank] = total["last"].get(rank, 0) + row["came_last"]
        for name in _WAITS:
            total["wait"][name] += row["wait"][name]
    numbers = {size: number for number, size in enumerate(sorted({row["size"] for row in sums.values()}))}
    communicators: list[dict[str, Any]] = [
        {"id": number, "size": size, "name": f"{size} ranks", "transport": ""} for size, number in numbers.items()
    ]
    rows = []
    for key in sorted(sums):
        row = sums[key]
        communicator = communicators[numbers[row["size"]]]
        if row["by_host"] or not communicator["transport"]:
            communicator["transport"] = row["transport"]
        # Each collective counts once; of ranks that are missing nothing is known.
        counted = max(1.0, row["size"] * len(parts) / parts[0].ranks)
        rows.append(_row_of_report(row, communicator["id"], counted))
    return {
        "schema": 1,
        "ranks": parts[0].ranks,
        "counted": len(parts),
        "host": parts[0].host,
        "build": parts[0].build,
        "communicators": communicators,
        "allocated": {"blocks": 0, "reads": 0},
        "rows": rows,
    }


def _row_of_report(row: dict[str, Any], communicator: int, counted: float) -> dict[str, Any]:
    by_rank = row["by_rank"].values()
    mostly = max(row["last"], key=lambda rank: row["last"][rank])
    counts_arrivals = row["last"][mostly] > 0 or row["carried"] > 0
    first = 0 if row["size_class"] == 0 else 1 << (row["size_class"] - 1)
    why = row["why"] or None
    return {
        "communicator": communicator,
        "collective": row["collective"],
        "bytes_from": first,
        "bytes_to": first * 2 - 1 if first else 0,
        "calls": round(row["calls"] / counted),
        "seconds": sum(by_rank) / counted,
        "mean_seconds": sum(by_rank) / len(by_rank),
        "slowest_seconds": max(by_rank),
        "waited_seconds": row["waited"] / len(by_rank) if counts_arrivals else None,
        "mostly_last": {"rank": mostly, "calls": row["last"][mostly]} if row["last"][mostly] else None,
        "came_last": _came_last(row["last"]) if counts_arrivals else None,
        "arrival_spread": row["spread"] if counts_arrivals else None,
        "mean_bytes": row["carried"] / row["calls"] if counts_arrivals else None,
        "algorithm": row["algorithm"],
        "transport": row["transport"],
        "wait": row["wait"],
        "fallback": why if row["by_host"] else None,
        "passed_over": None if row["by_host"] else why,
    }


def _came_last(by_rank: dict[int, int]) -> list[dict[str, int]]:
    """Those that did so most often first, and no more than rank 0 writes of them."""
    ranks = sorted((rank for rank in by_rank if by_rank[rank]), key=lambda rank: (-by_rank[rank], rank))
    return [{"rank": rank, "calls": by_rank[rank]} for rank in ranks[:_MOST_LAST]]


def _glob_escaped(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def _read(path: Path) -> Part | None:
    """None: it is no such file (or one that a rank has only begun)."""
    if not re.fullmatch(r".*\.rank-\d+", path.name, re.DOTALL):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror})") from error
    if len(data) < _HEADER.size or data[:16] != _MAGIC:
        return None
    _, order, version, header_bytes, row_bytes, tick, started, rank, ranks, _, partial, host, build = _HEADER.unpack_from(data)
    if order != _BYTE_ORDER or version != _VERSION or row_bytes != _ROW.size or header_bytes < _HEADER.size:
        raise Problem(
            f"{path} was written by another version of Espalier or on another kind of machine "
            f"(version {version}); read it with that one's `{Path(sys.argv[0]).name} stats`"
        )
    if ranks < 1 or not 0 <= rank < ranks or not 0 < tick < 1:
        raise Problem(f"{path} is damaged: it says rank {rank} of {ranks}, {tick} seconds a tick")
    ends = range(header_bytes, len(data) - row_bytes + 1, row_bytes)
    rows = [row for at in ends if (row := _row(_ROW.unpack_from(data, at), tick))]
    return Part(rank, ranks, started, _text(host), _text(build), bool(partial), rows)


def _row(fields: tuple, tick: float) -> dict[str, Any] | None:
    calls, ticks, *waits, waited, came_last, carried = fields[:9]
    spread, fields = fields[9 : 9 + _SPREADS], fields[9 + _SPREADS :]
    _, size, in_use, size_class, index, by_host, _ = fields[:7]
    if not in_use or not calls or size < 1 or size_class > 64:
        return None
    name, algorithm, transport, why = map(_text, fields[7:])
    return {
        "size": size,
        "index": index,
        "collective": name,
        "size_class": size_class,
        "calls": calls,
        "seconds": ticks * tick,
        "waited": waited * tick,
        "came_last": came_last,
        "carried": carried,
        "spread": spread,
        "algorithm": algorithm,
        "transport": transport,
        "by_host": bool(by_host),
        "why": why,
        "wait": dict(zip(_WAITS, waits)),
    }
