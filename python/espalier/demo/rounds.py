"""Collects what the demo's jobs say, round by round, and makes rows of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from espalier.bench import process
from espalier.bench.results.stats import Spread, quantile
from espalier.report.rows import Row, ordered

SIDES = ("host", "espalier", "default")


@dataclass
class Collected:
    """times[program][ranks, collective, bytes][side] -> {round: microseconds}"""

    times: dict = field(default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(dict))))
    commands: dict[str, str] = field(default_factory=dict)
    failures: list[dict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, program: str, ranks: int, collective: str, size: int, side: str, number: int, us: float) -> None:
        self.times[program][ranks, collective.lower(), size][side][number] = us

    def ran(self, title: str, outcome: process.Outcome, points: int) -> None:
        self.commands.setdefault(title, outcome.command)
        if not outcome.fine:
            self.failures.append({**outcome.failure(), "title": title})
        elif not points:
            self.failures.append({**outcome.failure(), "title": title, "why": "printed no times"})


def _row(place: tuple[int, str, int], sides: dict[str, dict[int, float]]) -> Row:
    ranks, collective, size = place
    host, espalier = sides["host"], sides["espalier"]
    both = sorted(host.keys() & espalier.keys())
    ratios = [host[i] / espalier[i] for i in both if espalier[i] > 0]
    return Row(
        collective,
        ranks,
        size,
        Spread.of(list(host.values())),
        Spread.of(list(espalier.values())) if espalier else None,
        Spread.of(ratios) if ratios else None,
        quantile(list(sides["default"].values()), 0.5) if sides["default"] else None,
    )


def rows(collected: Collected, program: str) -> list[Row]:
    """Medians over the rounds; the ratio is taken within a round. Without a host's time there is no row."""
    return ordered([_row(place, sides) for place, sides in list(collected.times[program].items()) if sides["host"]])


def as_json(collected: Collected) -> dict:
    """Every single time, for those who want to look behind the medians."""
    return {
        program: [
            {"ranks": ranks, "collective": name, "bytes": size, **{f"{side}_us": list(sides[side].values()) for side in SIDES}}
            for (ranks, name, size), sides in points.items()
        ]
        for program, points in collected.times.items()
    }
