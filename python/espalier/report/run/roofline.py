"""Calls of a run beside what the machine could do at best, waiting for the last rank left out; from the statistics of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from espalier.digits import three_digits
from espalier.report.run.limits import Limit, Limits
from espalier.sizes import print_bytes
from espalier.stats.table import kind, time

NEAR, FAR = 0.5, 0.1  # of the limit
_TO_ONE = ("gather", "gatherv", "reduce")  # the root alone copies


@dataclass(frozen=True)
class Point:
    """The calls of one kind."""

    collective: str
    name: str
    calls: int
    moved: float  # bytes that the busiest rank has to take from others
    seconds: float  # of a call, without waiting for the last rank
    limit: Limit

    @property
    def together(self) -> bool:
        """All ranks copy at once."""
        return self.collective not in _TO_ONE

    @property
    def least(self) -> float:
        return self.limit.seconds(self.moved, self.together)

    @property
    def reached(self) -> float:
        """Of the limit; 1 is as fast as it goes."""
        return self.least / self.seconds

    @property
    def rate(self) -> float:
        return self.moved / self.seconds

    @property
    def lost(self) -> float:
        """Seconds of the run beyond the limit."""
        return max(0.0, self.seconds - self.least) * self.calls

    @property
    def mood(self) -> str:
        return "better" if self.reached >= NEAR else "even" if self.reached >= FAR else "worse"


def moved(collective: str, size: float, ranks: int) -> float:
    """Bytes that the rank with most of them has to take from others, however it is done. Sizes as in the statistics."""
    others = (ranks - 1) / ranks
    if collective in ("allgather", "allgatherv", "gather", "gatherv"):
        return size * (ranks - 1)
    if collective in ("alltoall", "alltoallv", "alltoallw"):
        return size * others
    if collective in ("reduce_scatter_block", "reduce_scatter"):
        return size * others  # its block of each other's vector
    if collective == "allreduce":
        return 2 * size * others  # its share of each other's vector, then the others' shares of the result
    return 0.0 if collective == "barrier" else size


def of_report(report: dict[str, Any], limits: Limits) -> tuple[list[Point], int]:
    """Those that lose most time first; and how many kinds of calls are left out, since their waiting was not counted."""
    ranks = {entry["id"]: int(entry["size"]) for entry in report["communicators"]}
    found, left_out = [], 0
    for row in report["rows"]:
        mean, waited = row.get("mean_seconds") or 0.0, row.get("waited_seconds")
        if not row["calls"]:
            continue
        if waited is None or mean <= 0 or waited >= mean:
            left_out += 1
            continue
        size = min(max(float(row.get("mean_bytes") or 0), row["bytes_from"]), row["bytes_to"])
        seconds = row["seconds"] / row["calls"] * (1 - waited / mean)
        count = ranks[row["communicator"]]
        has_to_move = moved(row["collective"], size, count)
        found.append(Point(row["collective"], kind(row), row["calls"], has_to_move, seconds, limits.of(count)))
    return sorted(found, key=lambda point: -point.lost), left_out


def verdict(points: Sequence[Point]) -> str:
    if not points:
        return ""
    near = sum(point.reached >= NEAR for point in points)
    most = points[0]
    words = f"{near} of {len(points)} kinds of calls reach half of the machine's limit or more."
    if not most.lost:
        return f"{words} None takes longer than it has to."
    return (
        f"{words} Most time beyond it, {time(most.lost)}, is in {most.name} of {most.limit.ranks} ranks:"
        f" {time(most.seconds)} a call where {time(most.least)} is the least ({percent(most.reached)} of the limit)."
    )


def percent(share: float) -> str:
    return f"{three_digits(100 * share)}\u00a0%"


def rate_words(bytes_per_second: float) -> str:
    return f"{three_digits(bytes_per_second / 1e9)} GB/s" if bytes_per_second else ""


HEADINGS = ("collective", "ranks", "calls", "moved", "a call", "least", "rate", "of the limit", "beyond it")
RIGHT = HEADINGS[1:]


def rows(points: Sequence[Point]) -> list[list[str]]:
    return [
        [
            *(point.name, str(point.limit.ranks), str(point.calls), print_bytes(round(point.moved)) if point.moved else ""),
            *(time(point.seconds), time(point.least), rate_words(point.rate), percent(point.reached), time(point.lost)),
        ]
        for point in points
    ]


def legend(limits: Limits, points: Sequence[Point]) -> list[str]:
    words = [
        f"Limits of {limits.name}.",
        "moved: bytes that the rank with most of them has to take from others; a call: without waiting for the last rank, mean"
        " over the ranks; least: a cache line from core to core, and the bytes at the rate of copies between caches; beyond it:"
        " seconds of the run.",
    ]
    if any(point.limit.shares_cores for point in points):
        words.append("With more ranks than cores the least is a switch from one rank to the next, and copies take turns.")
    return words
