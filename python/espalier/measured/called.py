"""What a program called, from the statistics of a run: the points that its rules are to be tuned for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from espalier.bench.collectives import NAMES
from espalier.measured.point import Point
from espalier.problem import Problem

Json = dict[str, Any]

_MOST = 64  # points: the calls that took most time
_ELEMENT = 8


class Called(NamedTuple):
    points: list[Point]
    left_out: list[str]  # why some calls are not tuned for


def _load(path: Path) -> Json:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"--from {path}: {error.strerror}") from error
    except ValueError as error:
        raise Problem(f"--from {path}: is not JSON ({error}); espalier run --stats={path} -- ... writes it") from error
    if not isinstance(document, dict) or not isinstance(document.get("rows"), list) or "communicators" not in document:
        raise Problem(f"--from {path}: is no statistics file; espalier run --stats={path} -- mpirun ... writes one")
    return document


def _size_of(row: Json) -> int:
    """The middle of the class of sizes, in whole elements."""
    middle = (int(row["bytes_from"]) + int(row["bytes_to"]) + 1) // 2
    return max(_ELEMENT, middle // _ELEMENT * _ELEMENT)


def points(path: Path, most_ranks: int = 256) -> Called:
    """The calls that took most time first; those of the host, which are not timed, by their number. Later in order of ranks,
    as jobs have them."""
    document = _load(path)
    sizes = {entry["id"]: int(entry["size"]) for entry in document["communicators"]}
    weights: dict[Point, tuple[float, int]] = {}
    left: list[str] = []
    for row in document["rows"]:
        ranks, name = sizes.get(row["communicator"], 0), row["collective"]
        if name not in NAMES or not 2 <= ranks <= most_ranks:
            left.append(f"{name} of {ranks} ranks")
            continue
        point = Point(ranks, name, 0 if name == "barrier" else _size_of(row))
        seconds, calls = weights.get(point, (0.0, 0))
        weights[point] = (seconds + float(row["seconds"]), calls + int(row["calls"]))
    if not weights:
        raise Problem(f"--from {path}: no collective call of 2 to {most_ranks} ranks is in it")
    heaviest = sorted(weights, key=lambda point: weights[point], reverse=True)[:_MOST]
    order = {name: number for number, name in enumerate(NAMES)}
    heaviest.sort(key=lambda point: (point.ranks, order[point.collective], point.size))
    return Called(heaviest, list(dict.fromkeys(left)))
