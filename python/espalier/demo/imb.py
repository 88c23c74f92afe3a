"""IMB-MPI1, Intel's own benchmark program: how to run it, and what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

from espalier.bench import process
from espalier.bench.hosts import cores, environment, preload, preloaded
from espalier.demo.mpis import Mpi

COLLECTIVES = ("Barrier", "Bcast", "Reduce", "Allreduce")
_TITLE = re.compile(r"^#\s*Benchmarking\s+(\w+)")
_COUNT = re.compile(r"^#\s*#processes\s*=\s*(\d+)")


@dataclass(frozen=True)
class Line:
    collective: str
    ranks: int
    bytes: int  # 0 for the barrier
    repetitions: int
    least: float  # microseconds, over the ranks
    most: float
    mean: float


def _numbers(line: str) -> Optional[list[float]]:
    try:
        return [float(word) for word in line.split()]
    except ValueError:
        return None


def _line(collective: str, ranks: int, columns: list[str], values: list[float]) -> Optional[Line]:
    """None for a row that its header does not describe."""
    if len(columns) != len(values):
        return None
    named = dict(zip(columns, values))
    try:
        return Line(
            collective,
            ranks,
            int(named.get("#bytes", 0)),
            int(named["#repetitions"]),
            named["t_min[usec]"],
            named["t_max[usec]"],
            named["t_avg[usec]"],
        )
    except KeyError:
        return None


def parse(text: str) -> list[Line]:
    """Every row of times in the output. Lines of others in between (warnings of launchers) are skipped."""
    found: list[Line] = []
    collective, ranks = "", 0
    columns: list[str] = []
    for line in text.splitlines():
        title, count = _TITLE.match(line), _COUNT.match(line)
        if title:
            collective, ranks, columns = title[1], 0, []
        elif count:
            ranks = int(count[1])
        elif "t_max[usec]" in line:
            columns = line.split()
        elif columns and (values := _numbers(line)):
            row = _line(collective, ranks, columns, values)
            found += [row] if row else []
    return found


def points(ranks: int, low: int, high: int) -> list[tuple[int, str, int]]:
    """What a full run gives: (ranks, collective in lower case, bytes)."""
    sizes = [1 << power for power in range(low.bit_length() - 1, high.bit_length())]
    return [(ranks, "barrier", 0)] + [(ranks, name.lower(), size) for name in COLLECTIVES[1:] for size in sizes]


@dataclass(frozen=True)
class Kind:
    """One job of the demo: the same but for `espalier` when the two are compared."""

    mpi: Mpi
    ranks: int
    espalier: bool
    default: bool = False  # MPICH as it comes, though the ranks share cores
    collectives: tuple[str, ...] = COLLECTIVES
    low: int = 8
    high: int = 4 * 1024 * 1024
    repetitions: int = 100
    seconds: float = 0.25  # for one size; where MPICH is very slow IMB makes fewer repetitions, or stops


def _arguments(kind: Kind) -> list[str]:
    words = ["-npmin", str(kind.ranks), "-iter", str(kind.repetitions), "-iter_policy", "dynamic"]
    words += ["-time", str(kind.seconds)]
    words += ["-msglog", f"{kind.low.bit_length() - 1}:{kind.high.bit_length() - 1}"]
    words += ["-zero_size", "off", "-imb_barrier", "1"]
    if kind.ranks > len(cores()) and not kind.default and kind.mpi.host.kind == "mpich":
        # IMB asks for a thread level by itself, past the variable that makes MPICH yield; at this level it yields.
        words += ["-thread_level", "multiple"]
    return words + list(kind.collectives)


def command(kind: Kind) -> tuple[list[str], dict[str, str]]:
    """Command and environment. IMB-MPI1 was built for Intel MPI and runs on MPICH's library of the same ABI."""
    host = kind.mpi.host
    program = [str(kind.mpi.imb), *_arguments(kind)]
    program = process.wrapped({"LD_LIBRARY_PATH": kind.mpi.settings["LD_LIBRARY_PATH"]}, None, program)
    settings = preloaded(preload(host)) if kind.espalier else {}
    return kind.mpi.job(kind.ranks, program, environment(host, kind.ranks, default=kind.default) | settings)


def run(kind: Kind, limit: float) -> tuple[process.Outcome, list[Line]]:
    words, surroundings = command(kind)
    outcome = process.run(words, surroundings, limit)
    return outcome, parse(outcome.output)
