"""What came out, as JSON (`make example ARGS="--json FILE"`) and as a table."""

from __future__ import annotations

import datetime
from typing import Any

from espalier import __version__
from espalier.bench.results.stats import Spread

from programs.point import Point

SCHEMA = "espalier-programs/1"
LEGEND = "Medians over the rounds, quartiles in brackets; the ratio is taken within a round."
TITLES = ["program", "host", "ranks", "host ms", "with Espalier ms", "host / Espalier", "calls served", "left to the host",
          "largest difference"]
Json = dict[str, Any]


def _spread(values: list[float]) -> Json:
    found = Spread.of(values)
    return {"low": round(found.low, 3), "median": round(found.mid, 3), "high": round(found.high, 3)}


def _of_point(point: Point) -> Json:
    host, ours = point.times["host"], point.times["espalier"]
    return {
        "program": point.program, "host": point.host, "ranks": point.ranks, "rounds": len(host),
        "host_ms": _spread([1e3 * time for time in host]), "espalier_ms": _spread([1e3 * time for time in ours]),
        "ratio": _spread([a / b for a, b in zip(host, ours)]), "served": point.served, "left": point.left,
        "difference": point.difference,
    }


def make(points: list[Point], machine: Json) -> Json:
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"schema": SCHEMA, "date": now.isoformat(timespec="seconds"), "espalier": __version__, "machine": machine,
            "points": [_of_point(point) for point in points if point.times["host"]]}


def _words(spread: Json, digits: int, mark: str = "") -> str:
    middle = f"{mark}{spread['median']:.{digits}f}{mark}"
    return f"{middle} ({spread['low']:.{digits}f} to {spread['high']:.{digits}f})"


def table(document: Json) -> list[str]:
    rows = [
        [one["program"], one["host"], str(one["ranks"]), _words(one["host_ms"], 1), _words(one["espalier_ms"], 1),
         _words(one["ratio"], 2, "**"), str(one["served"]), str(one["left"]), f"{one['difference']:.0e}"]
        for one in document["points"]
    ]
    return [f"| {' | '.join(TITLES)} |", f"|{'---|' * len(TITLES)}", *(f"| {' | '.join(row)} |" for row in rows)]
