"""From rounds to medians: near and far rounds apart, ratios taken within a round."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Optional

from espalier.bench import served as bench_served
from espalier.bench.collectives import BLOCK_BYTES, HOLD_TOGETHER

# One population of flag-exchange times is called near or far by this; two populations are split between them.
FAR_FROM_NS = 160.0
# Quantile 0.95 over quantile 0.05: above it the rounds lie in two states.
TWO_STATES = 1.7
# So far beside the quantiles of a single state the border must lie.
BESIDE = 1.2


def quantile(values: Sequence[float], share: float) -> float:
    """By linear interpolation between the ordered values; `values` is not empty."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


@dataclass(frozen=True)
class Spread:
    low: float  # first quartile
    mid: float
    high: float  # third quartile
    least: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75), min(values))


def near_below(flag_ns: Iterable[float]) -> float:
    """The flag-exchange time that parts near rounds from far ones: between the two states if the rounds show
    two (their geometric mean), else FAR_FROM_NS, moved aside if it would cut through the one state there is."""
    times = [value for value in flag_ns if value > 0]
    if len(times) < 8:
        return FAR_FROM_NS
    low, high = quantile(times, 0.05), quantile(times, 0.95)
    if high > TWO_STATES * low:
        return math.sqrt(low * high)
    if quantile(times, 0.5) < FAR_FROM_NS:
        return max(FAR_FROM_NS, BESIDE * high)
    return min(FAR_FROM_NS, low / BESIDE)


def state(flag_ns: float, border: float) -> str:
    if flag_ns <= 0:
        return "unknown"
    return "near" if flag_ns < border else "far"


# A call, MPI_Start and MPI_Wait of a request that was made before, or MPI_I... and MPI_Wait.
BLOCKING, PERSISTENT, NONBLOCKING = MODES = "blocking", "persistent", "nonblocking"
# Calls one by one, each from a common start; or one behind the other, by their number.
SINGLE, BLOCK = "single", "block"


def as_programs_call(place: str) -> bool:
    """Whether all ranks come at once, and only call."""
    return not place.startswith(("late", "computing"))


@dataclass(frozen=True)
class Key:
    host: str
    variant: str  # "best" setting, or the host's "default" above the number of cores
    ranks: int
    buffers: str
    collective: str
    bytes: int
    state: str
    place: str = ""  # "", "quota", "one core", "late 100 µs", "computing 50 µs"
    mode: str = BLOCKING  # one of MODES
    timing: str = SINGLE  # or BLOCK


@dataclass(frozen=True)
class Summary:
    key: Key
    rounds: int
    host: Spread  # microseconds
    espalier: Optional[Spread]
    ratio: Optional[Spread]  # host / Espalier, round by round: above 1 Espalier is faster
    flags: Optional[Spread]  # Espalier's time in flag exchanges of the same round
    flag_ns: float
    served: str = ""  # by "espalier", the "host", or "both"; "": not known


def summarise_rounds(key: Key, rounds: Sequence[dict], served: str = "") -> Summary:
    paired = [r for r in rounds if r.get("espalier_us")]
    flags = [r["espalier_us"] * 1000 / r["f_ns"] for r in paired if r["f_ns"] > 0]
    return Summary(
        key=key,
        rounds=len(rounds),
        host=Spread.of([r["host_us"] for r in rounds]),
        espalier=Spread.of([r["espalier_us"] for r in paired]) if paired else None,
        ratio=Spread.of([r["host_us"] / r["espalier_us"] for r in paired]) if paired else None,
        flags=Spread.of(flags) if flags else None,
        flag_ns=quantile([r["f_ns"] for r in rounds], 0.5),
        served=served,
    )


def there(spread: Optional[Spread]) -> Spread:
    """Of a point at which Espalier was measured, too."""
    assert spread is not None, "a point of the host alone"
    return spread


def _spread(described: dict) -> Spread:
    return Spread(described["low"], described["median"], described["high"], described["least"])


def _spread_if(described: Optional[dict]) -> Optional[Spread]:
    return _spread(described) if described else None


def _timing(entry: dict, place: str) -> str:
    """Of a round or point. Files from before calls were timed both ways do not say it: short ones came in blocks."""
    if "timing" in entry:
        return entry["timing"]
    in_block = entry["collective"] in HOLD_TOGETHER and entry["bytes"] <= BLOCK_BYTES and not place.startswith("late")
    return BLOCK if in_block else SINGLE


def _kept(point: dict) -> Summary:
    """As points() has described it."""
    named = {name: point[name] for name in Key.__dataclass_fields__ if name in point}
    return Summary(
        key=Key(**named | {"timing": _timing(point, point.get("place", ""))}),
        rounds=point["rounds"],
        host=_spread(point["host_us"]),
        espalier=_spread_if(point["espalier_us"]),
        ratio=_spread_if(point["ratio"]),
        flags=None,
        flag_ns=point.get("f_ns", 0),
        served=point["served"],
    )


def _mode(entry: dict) -> str:
    """Of a job or point; files from before there were persistent calls name none."""
    return entry.get("mode", BLOCKING)


def modes(document: dict) -> list[str]:
    """How the collectives of a document were called, in the order of its jobs."""
    found = dict.fromkeys(map(_mode, document["jobs"] or document.get("points", [])))
    return list(found) or [_mode(document.get("settings", {}))]


def of_mode(document: dict, mode: str) -> dict:
    """What a document says of one mode: no table and no goal puts blocking and persistent calls together."""
    parts = {name: [entry for entry in document.get(name, []) if _mode(entry) == mode] for name in ("jobs", "points")}
    return document | parts


def summarise(document: dict) -> list[Summary]:
    """Every point of a bench document, in the order of the jobs; of a file without them, its points. A call that was timed in
    blocks, too, counts as it was timed one by one: that is how programs make it."""
    return _parted(document)[0]


def blocks(document: dict) -> list[Summary]:
    """The same calls timed in blocks, where they were timed both ways."""
    return _parted(document)[1]


def _parted(document: dict) -> tuple[list[Summary], list[Summary]]:
    every = _every(document)
    single = {s.key for s in every if s.key.timing == SINGLE}
    second = [s for s in every if s.key.timing == BLOCK and replace(s.key, timing=SINGLE) in single]
    beside = {s.key for s in second}
    return [s for s in every if s.key not in beside], second


def _block_of(r: dict) -> dict:
    return {**r, "timing": BLOCK, "host_us": r["host_block_us"], "espalier_us": r.get("espalier_block_us")}


def _every(document: dict) -> list[Summary]:
    if not document["jobs"]:
        return [_kept(point) for point in document.get("points", [])]
    border = document["near_below_ns"]
    served = bench_served.table(document)
    groups: dict[Key, list[dict]] = defaultdict(list)
    for job in document["jobs"]:
        about = (job["host"], job["variant"], job["ranks"], job["buffers"])
        place = job.get("place", "")
        for r in (*job["rounds"], *(_block_of(r) for r in job["rounds"] if "host_block_us" in r)):
            point = (r["collective"], r["bytes"], state(r["f_ns"], border))
            groups[Key(*about, *point, place, _mode(job), _timing(r, place))].append(r)

    def who(key: Key) -> str:
        return served.get((key.host, key.ranks, key.mode, key.collective), "")

    return [summarise_rounds(key, rounds, who(key)) for key, rounds in groups.items()]


def geometric_mean(values: Sequence[float]) -> Optional[float]:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _described(spread: Optional[Spread]) -> Optional[dict]:
    if spread is None:
        return None
    values = {"low": spread.low, "median": spread.mid, "high": spread.high, "least": spread.least}
    return {name: round(value, 4) for name, value in values.items()}


def points(document: dict) -> list[dict]:
    """The summaries as they stand in the file."""
    found = []
    for s in (*summarise(document), *blocks(document)):
        spreads = {"host_us": s.host, "espalier_us": s.espalier, "ratio": s.ratio}
        about = {"rounds": s.rounds, "served": s.served, "f_ns": round(s.flag_ns, 1)}
        found.append({**vars(s.key), **about, **{name: _described(x) for name, x in spreads.items()}})
    return found
