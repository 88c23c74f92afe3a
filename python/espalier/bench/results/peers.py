"""Espalier under each host against the best of all the hosts at the same point in the same state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional

from espalier.bench.results.stats import Summary, geometric_mean, there


def point(s: Summary) -> tuple:
    """What must be equal to compare two hosts."""
    return (s.key.ranks, s.key.place, s.key.mode, s.key.buffers, s.key.collective, s.key.bytes, s.key.state)


def best_hosts(summaries: Iterable[Summary]) -> dict[tuple, Summary]:
    """The fastest host of each point, at any of its settings."""
    best: dict[tuple, Summary] = {}
    for s in summaries:
        place = point(s)
        if place not in best or s.host.mid < best[place].host.mid:
            best[place] = s
    return best


@dataclass(frozen=True)
class Pair:
    espalier: Summary  # under its host
    peer: Summary  # the fastest host there
    hosts: int  # seen at this point in this state

    @property
    def ratio(self) -> float:
        """Above 1 Espalier is faster."""
        return self.peer.host.mid / there(self.espalier.espalier).mid

    @property
    def words(self) -> str:
        times = f"{self.peer.host.mid:.2f} / {there(self.espalier.espalier).mid:.2f} µs"
        by_host = ", served by the host" if self.espalier.served == "host" else ""
        return f"{self.ratio:.2f} x {self.peer.key.host} ({times}{by_host})"


FEW_ROUNDS = 3


def pairs(points: Iterable[Summary], summaries: Iterable[Summary]) -> list[Pair]:
    """A peer seen in a round or two of a state only counts where there is no other."""
    summaries = list(summaries)
    often = [s for s in summaries if s.rounds >= FEW_ROUNDS]
    best = best_hosts(summaries) | best_hosts(often)
    seen = _hosts(summaries) | _hosts(often)
    return [Pair(s, best[point(s)], len(seen[point(s)])) for s in points]


def _hosts(summaries: Iterable[Summary]) -> dict[tuple, set[str]]:
    seen: dict[tuple, set[str]] = defaultdict(set)
    for s in summaries:
        seen[point(s)].add(s.key.host)
    return seen


def complete(found: Iterable[Pair]) -> list[Pair]:
    """Those at which as many hosts were seen as anywhere: elsewhere the best of them may be missing."""
    found = list(found)
    most = max((pair.hosts for pair in found), default=0)
    return [pair for pair in found if pair.hosts == most]


def mean(found: Iterable[Pair]) -> Optional[float]:
    return geometric_mean([pair.ratio for pair in found])


def means_by_collective(found: Iterable[Pair]) -> dict[str, float]:
    groups: dict[str, list[float]] = defaultdict(list)
    for pair in found:
        groups[pair.espalier.key.collective].append(pair.ratio)
    return {name: mean for name, ratios in groups.items() if (mean := geometric_mean(ratios)) is not None}
