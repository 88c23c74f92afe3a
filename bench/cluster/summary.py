"""From rounds to what is reported: for rooted collectives least, median and most over all roots (HIER section 4)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Callable, Optional, Sequence

from espalier.bench.results.stats import Spread, quantile

from cluster.settings import ROOTED


@dataclass(frozen=True)
class Over:
    """Three values of a set of times in microseconds; what set, `Point.over` says."""

    least: float
    median: float
    most: float

    @staticmethod
    def of(values: Sequence[float]) -> "Over":
        return Over(min(values), quantile(values, 0.5), max(values))


@dataclass(frozen=True)
class Point:
    host: str
    layout: str
    collective: str
    bytes: int
    over: str  # "roots": the medians of all roots; "rounds": quartiles of all rounds
    rounds: int
    roots: tuple[int, ...]
    host_us: Over
    espalier_us: Optional[Over]
    ratio: Optional[float]  # host / Espalier, median of the rounds: above 1 Espalier is faster
    served: str  # "espalier", "host", "both"; "": not known
    shape: str = ""  # of an allgatherv's data; then `bytes` are the mean
    network: str = ""  # what it was told to take between nodes
    node_stage: str = ""  # and within them: shared, messages


def _over_roots(rounds: Sequence[dict], name: str) -> Over:
    by_root = defaultdict(list)
    for r in rounds:
        by_root[r["root"]].append(r[name])
    return Over.of([quantile(values, 0.5) for values in by_root.values()])


def _over_rounds(rounds: Sequence[dict], name: str) -> Over:
    spread = Spread.of([r[name] for r in rounds])
    return Over(spread.low, spread.mid, spread.high)


def _point(job: dict, collective: str, size: int, rounds: Sequence[dict], served: str) -> Point:
    rooted = collective in ROOTED
    over = _over_roots if rooted else _over_rounds
    paired = all("espalier_us" in r for r in rounds)
    return Point(
        host=job["host"],
        layout=job["layout"],
        collective=collective,
        bytes=size,
        over="roots" if rooted else "rounds",
        rounds=len(rounds),
        roots=tuple(sorted({r["root"] for r in rounds})) if rooted else (),
        host_us=over(rounds, "host_us"),
        espalier_us=over(rounds, "espalier_us") if paired else None,
        ratio=quantile([r["host_us"] / r["espalier_us"] for r in rounds], 0.5) if paired else None,
        served=served,
        shape=job.get("shape", ""),
        network=job.get("network", ""),
        node_stage=job.get("node_stage", ""),
    )


def points(document: dict) -> list[Point]:
    """Every point of a document, in the order of its jobs."""
    served = {
        (job["host"], job["layout"], name): entry["by"]
        for job in document["jobs"]
        for name, entry in job["served"].items()
    }
    found = []
    for job in document["jobs"]:
        groups = defaultdict(list)
        for r in job["rounds"]:
            groups[r["collective"], r["bytes"]].append(r)
        for (collective, size), rounds in groups.items():
            found.append(
                _point(job, collective, size, rounds, served.get((job["host"], job["layout"], collective), ""))
            )
    return found


@dataclass(frozen=True)
class StagePair:
    """By messages within the nodes, and the same through shared memory (HIER 4.4): a point of each in each turn."""

    messages: tuple[Point, ...]
    shared: tuple[Point, ...]

    @property
    def point(self) -> Point:
        return self.shared[0]

    @property
    def by_medians(self) -> float:
        """What shared memory is worth: above 1 it is faster. Within a turn; the median of the turns."""
        return self._over_turns(lambda point: point.espalier_us.median)

    @property
    def beside_the_host(self) -> float:
        """The same by the ratios to the host's own time, which takes out what the machine did meanwhile."""
        return self._over_turns(lambda point: 1 / point.ratio)

    def _over_turns(self, time: Callable[[Point], float]) -> float:
        return quantile([time(slow) / time(fast) for slow, fast in zip(self.messages, self.shared)], 0.5)


def over_turns(points: Sequence[Point]) -> Over:
    return Over.of([point.espalier_us.median for point in points])


def stage_pairs(found: Sequence[Point]) -> list[StagePair]:
    """Of points with both node stages, in their order."""
    kinds: dict[tuple, dict[str, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for point in found:
        if point.node_stage and point.ratio:
            kind = point.host, point.layout, point.collective, point.bytes, point.shape, point.network
            kinds[kind][point.node_stage].append(point)
    pairs = [StagePair(tuple(by["messages"]), tuple(by["shared"])) for by in kinds.values()]
    return [pair for pair in pairs if pair.messages and pair.shared]


def described(point: Point) -> dict:
    """As it stands in the file."""
    rounded = lambda over: {name: round(value, 2) for name, value in vars(over).items()} if over else None
    plain = {**vars(point), "roots": len(point.roots), "ratio": round(point.ratio, 4) if point.ratio else None}
    return {**plain, "host_us": rounded(point.host_us), "espalier_us": rounded(point.espalier_us)}
