"""Jobs at each level of ESPALIER_REPRODUCIBLE in turns, and sums of local arrays."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from espalier.bench import build, jobs, process
from espalier.bench.hosts import Host, cores, environment, launcher, preload, preloaded
from espalier.bench.results.stats import quantile
from espalier.problem import Problem

LEVELS = ("run", "placement", "exact")
COLLECTIVES = ("allreduce", "reduce", "scan")
SIZES = (8, 1024, 65536, 1 << 20)
STARTING = 60  # seconds beyond what a job is given to measure

Times = dict[tuple[str, int], float]  # by collective and bytes: the median of a job's rounds in us


class Shape(NamedTuple):
    ranks: int
    nodes: str = ""  # pretended ones

    def __str__(self) -> str:
        return f"{self.ranks} ranks" + (f" on {self.nodes} nodes" if self.nodes else "")


SHAPES = (Shape(2), Shape(4), Shape(4, "2"), Shape(8, "4"))


def job(host: Host, shape: Shape, level: str, seconds: float) -> Times:
    """A call of Espalier, in us. The host's own calls alternate with it, and are left out."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        words = [str(build.compare(host)), "--out", str(out), "--seconds", str(seconds), "--rounds", "1000"]
        if shape.ranks <= len(cores()):
            words += ["--pin", "yes", "--cpus", ",".join(map(str, cores()[: shape.ranks]))]
        words += ["--collectives", ",".join(COLLECTIVES), "--sizes", ",".join(map(str, SIZES))]
        settings = {"ESPALIER_REPRODUCIBLE": level, "ESPALIER_FALLBACK": "error"}
        if shape.nodes:
            settings["ESPALIER_NODES"] = shape.nodes
        told = environment(host, shape.ranks) | preloaded(preload(host)) | settings
        outcome = process.run([*launcher(host, shape.ranks), *words], told, STARTING + seconds)
        found = jobs.read_lines(out.read_text() if out.exists() else "")
    if why := jobs.trouble(found, outcome, host_only=False):
        raise Problem(f"{host.title}, {shape}, {level}: {why}")
    rounds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for entry in found["rounds"]:
        rounds[entry["collective"], entry["bytes"]].append(entry["espalier_us"])
    return {key: quantile(values, 0.5) for key, values in rounds.items()}


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
