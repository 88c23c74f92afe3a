"""When the ranks came to calls: how long before the last one the first one was there, and which rank was the last; from the
statistics of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from espalier.report.run import waiting
from espalier.stats.table import kind, time

MOST = 9  # kinds of calls that are drawn, those of most waiting first
_BAR = 40  # columns of the longest one on a terminal


@dataclass(frozen=True)
class Arrivals:
    """Of one kind of calls. `spread[i]`: calls in which so many nanoseconds have the bit width i."""

    name: str
    ranks: int
    spread: list[int]
    last: list[tuple[int, int]]  # (rank, calls), most often first
    waited: float  # seconds in all, mean over the ranks

    @property
    def calls(self) -> int:
        return sum(self.spread)

    def at_most(self, share: float) -> float:
        """Seconds that the first rank of so great a share of the calls waited at most, as exactly as bins tell."""
        seen = 0
        for width, calls in enumerate(self.spread):
            seen += calls
            if seen >= share * self.calls:
                return edge(width)
        return edge(len(self.spread))

    @property
    def blamed(self) -> Optional[tuple[int, int]]:
        """The rank that came last more often than chance would have it."""
        rank, calls = self.last[0] if self.last else (0, 0)
        return (rank, calls) if waiting.is_beyond_chance(calls, self.calls, self.ranks) else None


def edge(width: int) -> float:
    """Below it, in seconds, is what has that bit width in nanoseconds."""
    return (1 << width) * 1e-9 if width else 0.0


def of_report(report: dict[str, Any]) -> list[Arrivals]:
    """Those of most waiting first."""
    ranks = {entry["id"]: int(entry["size"]) for entry in report["communicators"]}
    found = []
    for row in report["rows"]:
        spread = [round(calls) for calls in row.get("arrival_spread") or ()]
        if not sum(spread):
            continue
        last = [(int(each["rank"]), round(each["calls"])) for each in row.get("came_last") or ()]
        size = ranks[row["communicator"]]
        found.append(Arrivals(kind(row), size, spread, last, float(row["waited_seconds"] or 0)))
    return sorted(found, key=lambda each: -each.waited)


def verdict(found: Sequence[Arrivals]) -> str:
    if not found:
        return ""
    worst = found[0]
    words = (
        f"Most waiting for the last rank, {time(worst.waited)}, is in {worst.name} of {worst.ranks} ranks: the first rank is"
        f" there less than {time(worst.at_most(0.5))} before the last one in half of the calls, and less than"
        f" {time(worst.at_most(0.9))} in 90\u00a0% of them."
    )
    if blamed := worst.blamed:
        return f"{words} Rank {blamed[0]} is the last one in {blamed[1]} of {worst.calls}."
    return f"{words} No rank is the last one more often than by chance."


def last_words(each: Arrivals, most: int = 4) -> str:
    """ "3 in 92 %, 1 in 5 %" """
    shares = [f"{rank} in {100 * calls / each.calls:.0f}\u00a0%" for rank, calls in each.last[:most]]
    return ", ".join(shares)


def used(each: Arrivals) -> tuple[int, int]:
    """The first and the last bin that has a call."""
    widths = [width for width, calls in enumerate(each.spread) if calls]
    return widths[0], widths[-1]


def lines(found: Sequence[Arrivals]) -> list[str]:
    text = []
    for each in found[:MOST]:
        first, last = used(each)
        most = max(each.spread)
        text += ["", f"{each.name}, {each.ranks} ranks, {each.calls} calls; last: rank {last_words(each)}"]
        for width in range(first, last + 1):
            bar = "#" * round(_BAR * each.spread[width] / most)
            text.append(f"  < {time(edge(width)) if width else '1 ns':>8}  {each.spread[width]:>9}  {bar}".rstrip())
    return text[1:]
