"""Jobs at each level of ESPALIER_REPRODUCIBLE in turns, and sums of local arrays."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from espalier.bench import one_job
from espalier.bench.hosts import Host
from espalier.bench.one_job import Times

LEVELS = ("run", "placement", "exact")
COLLECTIVES = ("allreduce", "reduce", "scan")
SIZES = (8, 1024, 65536, 1 << 20)


class Shape(NamedTuple):
    ranks: int
    nodes: str = ""  # pretended ones

    def __str__(self) -> str:
        return f"{self.ranks} ranks" + (f" on {self.nodes} nodes" if self.nodes else "")


SHAPES = (Shape(2), Shape(4), Shape(4, "2"), Shape(8, "4"))


def job(host: Host, shape: Shape, level: str, seconds: float) -> Times:
    settings = {"ESPALIER_REPRODUCIBLE": level} | ({"ESPALIER_NODES": shape.nodes} if shape.nodes else {})
    return one_job.times(host, shape.ranks, settings, COLLECTIVES, SIZES, seconds)


def turns(host: Host, number: int, seconds: float, tell: Callable[[str], None]) -> dict[Shape, list[dict[str, Times]]]:
    """For each shape and turn the times of all levels, which begin at another one each time."""
    found: dict[Shape, list[dict[str, Times]]] = defaultdict(list)
    for turn in range(number):
        first = turn % len(LEVELS)
        for shape in SHAPES:
            order = LEVELS[first:] + LEVELS[:first]
            found[shape].append({level: job(host, shape, level, seconds) for level in order})
        tell(f"turn {turn + 1} of {number} done")
    return found


def arrays(repeats: int = 7) -> list[dict]:
    """Sums of local arrays: without rounding, numpy's, and a pass over the array that only looks for its maximum."""
    import numpy

    from espalier import exact

    def best(call: Callable[[], object]) -> float:
        times = []
        for _ in range(repeats):
            begun = time.perf_counter()
            call()
            times.append(time.perf_counter() - begun)
        return min(times) * 1e6

    random = numpy.random.default_rng(1)
    points = []
    for elements in (1000, 100_000, 20_000_000):
        for dtype in ("float64", "float32"):
            array = random.uniform(-1, 1, elements).astype(dtype)
            points.append({
                "elements": elements, "type": dtype, "exact_us": round(best(lambda: exact.sum(array)), 2),  # noqa: B023
                "numpy_us": round(best(lambda: array.sum()), 2), "read_us": round(best(lambda: array.max()), 2),  # noqa: B023
            })
    return points
