"""How long a flag takes from core to core: measured for all pairs, and laid over the machine's domains."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from espalier import core
from espalier.doctor.check import Check
from espalier.problem import Problem
from espalier.simulate import run

MOST_CORES = 64  # two thousand pairs, a millisecond each
NAME = "core to core"
_TWICE = 2.0  # what pairs of one level may differ by, before it is worth a word
Json = dict[str, Any]


@dataclass(frozen=True)
class Latencies:
    """`ns[i][j]`: between the cores of cpus[i] and cpus[j]; None where it was not measured. `levels`: by such a pair, the
    innermost domain that has both."""

    cpus: list[int]
    ns: list[list[Optional[float]]]
    levels: list[list[str]]

    def pairs(self) -> Iterator[tuple[int, int]]:
        return ((i, j) for i in range(len(self.cpus)) for j in range(i) if self.ns[i][j] is not None)

    def by_level(self) -> dict[str, list[float]]:
        """From the innermost out, which is in the order of their times."""
        found: dict[str, list[float]] = {}
        for i, j in self.pairs():
            found.setdefault(self.levels[i][j], []).append(self.ns[i][j] or 0.0)
        return dict(sorted(found.items(), key=lambda item: statistics.median(item[1])))

    def as_json(self) -> Json:
        return {"cpus": self.cpus, "ns": self.ns, "levels": self.levels}


def measure(most: int = MOST_CORES) -> Latencies:
    """Raises Problem where the program that measures is not there."""
    found = run.ask({"latencies": most}, run.MEASURE)
    request = {"what": "topology", "synthetic": None, "affinity": None, "tree": None, "root": 0, "ranks": 1}
    machine = core.describe(request)["topology"]
    cpus = found["cpus"]
    return Latencies(cpus, found["ns"], [[_level(machine, one, other) for other in cpus] for one in cpus])


def _level(domain: Json, one: int, other: int) -> str:
    for child in domain.get("children", []):
        if _has(child, one) and _has(child, other):
            return _level(child, one, other)
    return str(domain["level"])


def _has(domain: Json, cpu: int) -> bool:
    cpus = domain["cpus"]
    if not isinstance(cpus, str):
        return cpu in cpus
    pairs = (part.split("-") for part in cpus.split(",") if part)
    return any(int(pair[0]) <= cpu <= int(pair[-1]) for pair in pairs)


def check(found: Optional[Latencies], trouble: str = "") -> Check:
    if found is None:
        return Check(NAME, None, f"not measured: {trouble}")
    if len(found.cpus) < 2:
        return Check(NAME, True, "one core: there is no other")
    levels = found.by_level()
    if not levels:
        return Check(NAME, None, "no pair could be measured: others keep the cores busy", "espalier doctor on a quiet machine")
    words = "; ".join(_words(level, times) for level, times in levels.items())
    missing = len(found.cpus) * (len(found.cpus) - 1) // 2 - sum(map(len, levels.values()))
    return Check(NAME, True, f"{words}{f'; {missing} pairs could not be measured' if missing else ''}")


def _words(level: str, times: list[float]) -> str:
    low, middle, high = min(times), statistics.median(times), max(times)
    spread = f" ({low:.0f} to {high:.0f})" if high > _TWICE * low else ""
    return f"within a {level} {middle:.0f} ns{spread}"


def measured() -> tuple[Optional[Latencies], Check]:
    try:
        found = measure()
    except Problem as problem:
        return None, check(None, str(problem))
    return found, check(found)
