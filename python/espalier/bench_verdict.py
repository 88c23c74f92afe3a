"""The goals for speed on one node, each with the points that miss it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Iterable, Optional

from espalier.bench_stats import Summary
from espalier.sizes import print_bytes

SMALL = 8192
LARGEST = 4 * 1024 * 1024
FEW_ROUNDS = 3


@dataclass
class Goal:
    name: str
    text: str
    judged: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        if not self.judged:
            return "not measured"
        return "met" if not self.misses else "missed"


def label(s: Summary) -> str:
    size = "" if s.key.collective == "barrier" else f" {print_bytes(s.key.bytes)}"
    return f"{s.key.host} {s.key.ranks} ranks {s.key.collective}{size} ({s.key.state})"


def _usable(points: Iterable[Summary]) -> list[Summary]:
    """Without the states of which a point has only a few rounds, unless that is all there is of it."""
    points = [s for s in points if s.espalier and s.key.variant == "best" and s.key.buffers == "written"]
    most: dict[tuple, int] = {}
    for s in points:
        place = (s.key.host, s.key.ranks, s.key.collective, s.key.bytes)
        most[place] = max(most.get(place, 0), s.rounds)
    enough = lambda s: min(FEW_ROUNDS, most[s.key.host, s.key.ranks, s.key.collective, s.key.bytes])
    return [s for s in points if s.rounds >= enough(s)]


def _judge(goal: Goal, points: Iterable[Summary], miss: Callable[[Summary], Optional[str]]) -> Goal:
    for s in points:
        goal.judged += 1
        why = miss(s)
        if why:
            goal.misses.append(f"{label(s)}: {why}")
    return goal


def _ratio_below(bound: float, inclusive: bool) -> Callable[[Summary], Optional[str]]:
    def miss(s: Summary) -> Optional[str]:
        fine = s.ratio.mid >= bound if inclusive else s.ratio.mid > bound
        return None if fine else f"{s.ratio.mid:.2f} x its host ({s.host.mid:.2f} / {s.espalier.mid:.2f} µs)"

    return miss


def _faster_when_small(points: list[Summary]) -> Goal:
    goal = Goal("two-ranks-faster", "2 pinned ranks: faster than the host it runs under, up to 8 KiB")
    return _judge(goal, (s for s in points if s.key.ranks == 2 and s.key.bytes <= SMALL), _ratio_below(1.0, False))


def _never_slower(points: list[Summary]) -> Goal:
    goal = Goal("never-slower", "2 pinned ranks: at least 0.9 x its host at every size up to 4 MiB")
    return _judge(goal, (s for s in points if s.key.ranks == 2 and s.key.bytes <= LARGEST), _ratio_below(0.9, True))


def _near_the_limit(points: list[Summary]) -> Goal:
    goal = Goal("near-the-limit", "2 pinned ranks: barrier and 8 B allreduce within 2.5 flag exchanges of the run")
    tiny = {("barrier", 0), ("allreduce", 8)}
    chosen = (s for s in points if s.key.ranks == 2 and s.flags and (s.key.collective, s.key.bytes) in tiny)
    bad = lambda s: f"{s.flags.mid:.1f} flag exchanges of {s.flag_ns:.0f} ns" if s.flags.mid > 2.5 else None
    return _judge(goal, chosen, bad)


def best_hosts(summaries: Iterable[Summary]) -> dict[tuple, Summary]:
    """The fastest host of each (ranks, buffers, collective, bytes, state), at any of its settings."""
    best: dict[tuple, Summary] = {}
    for s in summaries:
        place = (s.key.ranks, s.key.buffers, s.key.collective, s.key.bytes, s.key.state)
        if place not in best or s.host.mid < best[place].host.mid:
            best[place] = s
    return best


def _crowded(points: list[Summary], summaries: list[Summary], cores: int) -> Goal:
    goal = Goal("more-ranks-than-cores", "more ranks than cores: within 1.5 x of the best of the hosts at every point")
    best = best_hosts(summaries)

    def miss(s: Summary) -> Optional[str]:
        peer = best[s.key.ranks, s.key.buffers, s.key.collective, s.key.bytes, s.key.state]
        if s.espalier.mid <= 1.5 * peer.host.mid:
            return None
        return f"{s.espalier.mid / peer.host.mid:.2f} x {peer.key.host} ({s.espalier.mid:.1f} / {peer.host.mid:.1f} µs)"

    return _judge(goal, (s for s in points if s.key.ranks > cores), miss)


def verdict(summaries: list[Summary], cores: int) -> list[Goal]:
    points = _usable(summaries)
    return [
        _faster_when_small(points),
        _never_slower(points),
        _near_the_limit(points),
        _crowded(points, summaries, cores),
    ]
