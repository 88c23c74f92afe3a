"""The file of a run, and its tables."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from espalier import __version__
from espalier.bench import file
from espalier.bench.results.stats import Spread
from espalier.problem import Problem
from espalier.sizes import print_bytes

from reproducible.measure import COLLECTIVES, LEVELS, SIZES, Shape, Times

SCHEMA = "espalier-reproducible/1"
Json = dict[str, Any]


def point(shape: Shape, collective: str, size: int, turns: list[dict[str, Times]]) -> Json:
    """How many times as long as at the level run: the ratio is taken within a turn."""
    key = collective, size
    result: Json = {"ranks": shape.ranks, "nodes": shape.nodes, "collective": collective, "bytes": size}
    result["run_us"] = round(Spread.of([turn["run"][key] for turn in turns]).mid, 3)
    for level in LEVELS[1:]:
        ratio = Spread.of([turn[level][key] / turn["run"][key] for turn in turns])
        result[level] = {"low": round(ratio.low, 3), "median": round(ratio.mid, 3), "high": round(ratio.high, 3)}
    return result


def make(host: str, described: Json, turns: dict[Shape, list[dict[str, Times]]], arrays: list[Json]) -> Json:
    points = [point(shape, collective, size, found) for shape, found in turns.items() for collective in COLLECTIVES for size in SIZES]
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"schema": SCHEMA, "date": now.isoformat(timespec="seconds"), "espalier": __version__, "machine": described,
            "host": host, "turns": max(map(len, turns.values())), "points": points, "arrays": arrays}


def load(path: Path) -> Json:
    document = file.read_json(path)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise Problem(f"{path} is no result of bench/reproducible (schema {SCHEMA})")
    return document


def printed(ratio: dict[str, float]) -> str:
    return f"{ratio['median']:.2f} ({ratio['low']:.2f}–{ratio['high']:.2f})"


def grid(rows: list[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]


def table(document: Json) -> list[str]:
    """Markdown: times of the level run, and how many times as long the others take; in parentheses quartiles."""
    rows = [["ranks", "collective", "level", *(print_bytes(size) for size in SIZES)]]
    shapes = list(dict.fromkeys((one["ranks"], one["nodes"]) for one in document["points"]))
    for ranks, nodes in shapes:
        for collective in COLLECTIVES:
            found = {one["bytes"]: one for one in document["points"]
                     if (one["ranks"], one["nodes"], one["collective"]) == (ranks, nodes, collective)}
            where = str(Shape(ranks, nodes))
            rows.append([where, collective, "run", *(f"{found[size]['run_us']:.1f} µs" for size in SIZES)])
            rows += [["", "", level, *(printed(found[size][level]) for size in SIZES)] for level in LEVELS[1:]]
    return [line.replace("|  |  |", "| | |") for line in grid(rows)]


def arrays_table(document: Json) -> list[str]:
    rows = [["elements", "type", "exact.sum", "numpy.sum", "numpy.max"]]
    rows += [[f"{one['elements']:,}", one["type"], *(f"{one[what]:,.1f} µs" for what in ("exact_us", "numpy_us", "read_us"))]
             for one in document["arrays"]]
    return grid(rows)
