"""How far Espalier is from what the machine can do, each round against the yardsticks of the same round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional

from espalier.bench.results.stats import Spread, quantile, state

MIB = 1 << 20
FLAGS, FLAGS_NS = 1.5, 40.0
COPIES = 1.2
SWITCHES = 1.5
# Through shared memory pass, at two ranks, half of each vector and then half of the result from each side: two
# vectors in all, where C(n) is the time of one. Each rank moves half of them.
ALLREDUCE_COPIES = 2


@dataclass(frozen=True)
class Yardstick:
    """M(n) and C(n) of one size in one state."""

    bytes: int
    state: str
    memcpy: Spread
    pipe: Optional[Spread]
    cut: str  # the cut that was quickest most often, such as "32768 B x 8"


@dataclass(frozen=True)
class Distance:
    limit: str  # "flags", "bcast", "allreduce" or "switches"
    host: str
    ranks: int
    what: str  # the collective and its size
    state: str
    rounds: int
    espalier_us: float  # medians
    limit_us: float  # what the goal allows, without its factor
    times: Spread  # Espalier's time over the goal's bound: at most 1 is within

    @property
    def within(self) -> bool:
        return self.times.mid <= 1


def _most_often(values: list[str]) -> str:
    return max(sorted(set(values)), key=values.count)


def yardsticks(document: dict) -> list[Yardstick]:
    groups: dict[tuple[int, str], list[dict]] = defaultdict(list)
    for job in document["jobs"]:
        for entry in job["limits"]:
            groups[entry["bytes"], state(entry["f_ns"], document["near_below_ns"])].append(entry)
    found = []
    for (size, where), entries in sorted(groups.items()):
        pipes = [e for e in entries if e["pipe_us"]]
        cuts = [f"{e.get('pipe_chunk', 0)} B x {e.get('pipe_slots', 0)}" for e in pipes]
        pipe = Spread.of([e["pipe_us"] for e in pipes]) if pipes else None
        cut = _most_often(cuts) if cuts else ""
        found.append(Yardstick(size, where, Spread.of([e["memcpy_us"] for e in entries]), pipe, cut))
    return found


def switch_rounds(document: dict) -> dict[tuple[int, str], Spread]:
    """S(k) by (ranks, host), in microseconds."""
    groups: dict[tuple[int, str], list[float]] = defaultdict(list)
    for job in document["jobs"]:
        for entry in job.get("switches") or []:
            groups[job["ranks"], job["host"]].append(entry["switch_us"])
    return {key: Spread.of(values) for key, values in sorted(groups.items())}


def _pipes(job: dict) -> dict[tuple[int, int], float]:
    return {(e["round"], e["bytes"]): e["pipe_us"] for e in job["limits"] if e["pipe_us"]}


def _two_ranks(job: dict) -> Iterator[tuple[str, str, dict, float]]:
    """(limit, what, round, bound in µs without the factor or None) of a job of two ranks."""
    pipes = _pipes(job)
    for r in job["rounds"]:
        name, size = r["collective"], r["bytes"]
        if (name, size) in (("barrier", 0), ("allreduce", 8)) and r["f_ns"] > 0:
            yield "flags", "barrier" if name == "barrier" else "allreduce 8 B", r, r["f_ns"] / 1000
        pipe = pipes.get((r["round"], size))
        if size == MIB and pipe and name in ("bcast", "allreduce"):
            yield name, f"{name} 1 MiB", r, pipe * (ALLREDUCE_COPIES if name == "allreduce" else 1)


def _oversubscribed(job: dict, least: float) -> Iterator[tuple[str, str, dict, float]]:
    """The round's own S(k), but no more than the least of the hosts' medians: where a launcher makes yields weak
    the machine is not to blame."""
    own = {e["round"]: e["switch_us"] for e in job.get("switches") or []}
    for r in job["rounds"]:
        if r["collective"] == "barrier" and own.get(r["round"]):
            yield "switches", "barrier", r, min(own[r["round"]], least)


def _bound(limit: str, us: float) -> float:
    factor = {"flags": FLAGS, "switches": SWITCHES}.get(limit, COPIES)
    return factor * us + (FLAGS_NS / 1000 if limit == "flags" else 0)


def distances(document: dict) -> list[Distance]:
    medians: dict[int, list[float]] = defaultdict(list)
    for (ranks, _), spread in switch_rounds(document).items():
        medians[ranks].append(spread.mid)
    groups: dict[tuple, list[tuple[float, float]]] = defaultdict(list)
    for job in document["jobs"]:
        if job["variant"] != "best" or job["buffers"] != "written" or job.get("place", ""):
            continue
        ranks = job["ranks"]
        least = min(medians.get(ranks, [0]))
        for limit, what, r, us in _two_ranks(job) if ranks == 2 else _oversubscribed(job, least):
            if r.get("espalier_us"):
                key = (limit, what, ranks, job["host"], state(r["f_ns"], document["near_below_ns"]))
                groups[key].append((r["espalier_us"], us))
    return [_distance(key, pairs) for key, pairs in sorted(groups.items())]


def _distance(key: tuple, pairs: list[tuple[float, float]]) -> Distance:
    limit, what, ranks, host, where = key
    times = Spread.of([us / _bound(limit, bound) for us, bound in pairs])

    def middle(at: int) -> float:
        return quantile([pair[at] for pair in pairs], 0.5)

    return Distance(limit, host, ranks, what, where, len(pairs), middle(0), middle(1), times)
