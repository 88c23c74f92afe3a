"""The goals for speed on one node, each with the points that miss it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Callable, Optional

from espalier.bench.results import each, limits, peers
from espalier.bench.results.peers import FEW_ROUNDS, best_hosts, point
from espalier.bench.results.stats import Summary, as_programs_call, summarise, there
from espalier.sizes import print_bytes

SMALL = 8192
LARGEST = 4 * 1024 * 1024
NOISE = 0.95
MEANS = {"near": 2.0, "far": 1.5}
OVERSUBSCRIBED_MEAN = 1.5
OVERSUBSCRIBED_RANKS = (4, 8, 16)
MOST_US, MOST_US_RANKS = 1000.0, 16


@dataclass
class Goal:
    name: str
    text: str
    judged: int = 0
    misses: list[str] = field(default_factory=list)
    note: str = ""  # what was found, where the goal is about one number

    @property
    def verdict(self) -> str:
        if not self.judged:
            return "not measured"
        return "met" if not self.misses else "missed"


def label(s: Summary) -> str:
    size = "" if s.key.collective == "barrier" else f" {print_bytes(s.key.bytes)}"
    place = f" {s.key.place}" if s.key.place else ""
    return f"{s.key.host} {s.key.ranks} ranks{place} {s.key.collective}{size} ({s.key.state})"


def usable(points: Iterable[Summary], buffers: str = "written") -> list[Summary]:
    """Without the states of which a point has only a few rounds, unless that is all there is of it."""
    points = [s for s in points if s.espalier and s.key.variant == "best" and s.key.buffers == buffers]
    points = [s for s in points if as_programs_call(s.key.place)]
    most: dict[tuple, int] = {}
    for s in points:
        most[_without_state(s)] = max(most.get(_without_state(s), 0), s.rounds)
    return [s for s in points if s.rounds >= FEW_ROUNDS or most[_without_state(s)] < FEW_ROUNDS]


def _without_state(s: Summary) -> tuple:
    return (s.key.host, s.key.place, s.key.ranks, s.key.collective, s.key.bytes)


def _judge(goal: Goal, points: Iterable[Summary], miss: Callable[[Summary], Optional[str]]) -> Goal:
    for s in points:
        goal.judged += 1
        why = miss(s)
        if why:
            goal.misses.append(f"{label(s)}: {why}")
    return goal


def _two_ranks(points: list[Summary]) -> list[Summary]:
    return [s for s in points if s.key.ranks == 2 and not s.key.place]


# Against the host it runs under. What Espalier leaves to the host is not judged here.


def _ratio_below(bound: float, inclusive: bool) -> Callable[[Summary], Optional[str]]:
    def miss(s: Summary) -> Optional[str]:
        ratio = there(s.ratio).mid
        fine = ratio >= bound if inclusive else ratio > bound
        return None if fine else f"{ratio:.2f} x its host ({s.host.mid:.2f} / {there(s.espalier).mid:.2f} µs)"

    return miss


def _own_host(points: list[Summary]) -> list[Goal]:
    own = [s for s in _two_ranks(points) if s.served != "host"]
    faster = Goal("own-host-faster", "2 pinned ranks, what Espalier serves: faster than the host it runs under, up to 8 KiB")
    slower = Goal(
        "own-host-never-slower", "2 pinned ranks, what Espalier serves: at least 0.9 x its host at every size up to 4 MiB"
    )
    return [
        _judge(faster, (s for s in own if s.key.bytes <= SMALL), _ratio_below(1.0, False)),
        _judge(slower, (s for s in own if s.key.bytes <= LARGEST), _ratio_below(0.9, True)),
    ]


# Against the best of the hosts.


def _best_peer(points: list[Summary], summaries: list[Summary]) -> list[Goal]:
    found = peers.pairs(_two_ranks(points), summaries)
    every = Goal(
        "best-peer-every-point", f"2 pinned ranks: at least {NOISE} x the best of the hosts, under each host, at every point"
    )
    for pair in found:
        every.judged += 1
        if pair.ratio < NOISE:
            every.misses.append(f"{label(pair.espalier)}: {pair.words}")
    means = [
        _mean(
            f"best-peer-mean-{state}",
            f"2 pinned ranks, {state}: the best host takes {bound:g} x as long in the geometric mean",
            [pair for pair in found if pair.espalier.key.state == state],
            bound,
        )
        for state, bound in MEANS.items()
    ]
    return [every, *means]


def _mean(name: str, text: str, everywhere: list[peers.Pair], bound: float) -> Goal:
    found = peers.complete(everywhere)
    goal = Goal(name, text, judged=len(found))
    mean = peers.mean(found)
    if mean is None:
        return goal
    goal.note = f"{mean:.2f} x"
    if len(found) < len(everywhere):
        goal.note += f", {peers.mean(everywhere):.2f} x with those where a host was not seen in the state"
    own = [pair for pair in found if pair.espalier.served != "host"]
    if 0 < len(own) < len(found):
        goal.note += f", where Espalier serves {peers.mean(own):.2f} x"
    if mean < bound:
        by = sorted(peers.means_by_collective(found).items(), key=lambda item: item[1])
        goal.misses.append(f"{mean:.2f} x; " + ", ".join(f"{collective} {value:.2f}" for collective, value in by))
    return goal


def _oversubscribed(points: list[Summary], summaries: list[Summary], cores: int) -> list[Goal]:
    goals = []
    for ranks in OVERSUBSCRIBED_RANKS:
        chosen = [s for s in points if s.key.ranks == ranks > cores and not s.key.place]
        text = f"{ranks} ranks on fewer cores: the best host takes {OVERSUBSCRIBED_MEAN:g} x as long in the geometric mean"
        goals.append(_mean(f"oversubscribed-mean-{ranks}", text, peers.pairs(chosen, summaries), OVERSUBSCRIBED_MEAN))
    for place, words in (("quota", "under a CPU quota of one core"), ("one core", "all on one core")):
        chosen = [s for s in points if s.key.place == place]
        text = f"4 ranks {words}: the best host takes {OVERSUBSCRIBED_MEAN:g} x as long in the geometric mean"
        if chosen or place == "quota":
            goals.append(_mean(f"{place.replace(' ', '-')}-mean", text, peers.pairs(chosen, summaries), OVERSUBSCRIBED_MEAN))
    return [*goals, _below_a_millisecond(points, cores), _oversubscribed_every_point(points, summaries, cores)]


def _below_a_millisecond(points: list[Summary], cores: int) -> Goal:
    goal = Goal("oversubscribed-below-1-ms", f"{MOST_US_RANKS} ranks on fewer cores: nothing above 1 ms up to 8 KiB")
    chosen = (s for s in points if s.key.ranks == MOST_US_RANKS > cores and s.key.bytes <= SMALL and not s.key.place)

    def miss(s: Summary) -> Optional[str]:
        own = there(s.espalier).mid
        return f"{own:.0f} µs" if own > MOST_US else None

    return _judge(goal, chosen, miss)


def _oversubscribed_every_point(points: list[Summary], summaries: list[Summary], cores: int) -> Goal:
    goal = Goal("oversubscribed-every-point", "more ranks than cores: within 1.5 x of the best of the hosts at every point")
    best = best_hosts(summaries)

    def miss(s: Summary) -> Optional[str]:
        peer = best[point(s)]
        own = there(s.espalier).mid
        if own <= 1.5 * peer.host.mid:
            return None
        return f"{own / peer.host.mid:.2f} x {peer.key.host} ({own:.1f} / {peer.host.mid:.1f} µs)"

    return _judge(goal, (s for s in points if s.key.ranks > cores and not s.key.place), miss)


# Against what the machine can do.


def _flag_exchanges(points: list[Summary]) -> Goal:
    goal = Goal("limit-2.5-flags", "2 pinned ranks: barrier and 8 B allreduce within 2.5 flag exchanges of the run")
    tiny = {("barrier", 0), ("allreduce", 8)}
    chosen = (s for s in _two_ranks(points) if s.flags and (s.key.collective, s.key.bytes) in tiny)

    def miss(s: Summary) -> Optional[str]:
        flags = there(s.flags).mid
        return f"{flags:.1f} flag exchanges of {s.flag_ns:.0f} ns" if flags > 2.5 else None

    return _judge(goal, chosen, miss)


_LIMITS = {
    "flags": "2 pinned ranks: barrier and 8 B allreduce within 1.5 F + 40 ns",
    "bcast": "2 pinned ranks: bcast of 1 MiB within 1.2 C",
    "allreduce": "2 pinned ranks: allreduce of 1 MiB within 1.2 x what its bytes need at C's rate (2 C)",
    "switches": "more ranks than cores: barrier within 1.5 S(k)",
}


def _limits(document: dict) -> list[Goal]:
    goals = {limit: Goal(f"limit-{limit}", text) for limit, text in _LIMITS.items()}
    found = limits.distances(document)
    most = {(d.limit, d.what, d.ranks, d.host): 0 for d in found}
    for d in found:
        most[d.limit, d.what, d.ranks, d.host] = max(most[d.limit, d.what, d.ranks, d.host], d.rounds)
    for d in found:
        if d.rounds < FEW_ROUNDS <= most[d.limit, d.what, d.ranks, d.host]:
            continue
        goals[d.limit].judged += 1
        if not d.within:
            where = f"{d.host} {d.ranks} ranks {d.what} ({d.state})"
            how = f"{d.times.mid:.2f} x the bound ({d.espalier_us:.2f} µs, limit {d.limit_us:.3f} µs)"
            goals[d.limit].misses.append(f"{where}: {how}")
    return list(goals.values())


def _neighbour(document: dict) -> list[Goal]:
    found = each.beside_neighbour(document)
    text = "2 ranks beside a computing process: Espalier's p95 of single 8 B allreduces under a third of the best host's"
    goals = {"back to back": Goal("neighbour-p95", f"{text}, calls back to back")}
    goals |= {how: Goal("neighbour-p95-late", f"{text}, {how} each time") for how, _, _ in found if how not in goals}
    for (how, host, side), entry in found.items():
        best = each.best_peer(found, how)
        if side != "espalier" or not best:
            continue
        goals[how].judged += 1
        if entry["p95"] >= best[1]["p95"] / 3:
            goals[how].misses.append(f"{host}: p95 {entry['p95']:.2f} µs, {best[0]} {best[1]['p95']:.2f} µs")
    return list(goals.values())


def verdict(document: dict) -> list[Goal]:
    """Of a document of one mode (bench_stats.of_mode)."""
    summaries = summarise(document)
    cores = document["machine"].get("cores", 0)
    points = usable(summaries)
    return [
        *_best_peer(points, summaries),
        *_own_host(points),
        *_oversubscribed(points, summaries, cores),
        _flag_exchanges(points),
        *_limits(document),
        *_neighbour(document),
    ]
