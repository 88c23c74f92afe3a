"""The jobs of the demo, in the order in which they run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable, Union

from espalier.bench.hosts import cores
from espalier.demo import imb, mpi4py_program
from espalier.demo.mpis import Mpi
from espalier.demo.rounds import Collected

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Step:
    program: str  # "imb" or "mpi4py"
    side: str  # "host", "espalier" or "default"
    kind: Union[imb.Kind, mpi4py_program.Kind]
    number: int  # of the round
    optional: bool = False  # left out when the time is up

    @property
    def title(self) -> str:
        name = {"imb": "IMB-MPI1", "mpi4py": "mpi4py"}[self.program]
        mpi = self.kind.mpi.title
        side = {"host": mpi, "espalier": f"{mpi} with Espalier", "default": f"{mpi} as it comes"}[self.side]
        return f"{name}, {self.kind.ranks} ranks, {side}{_range(self.kind)}"


def _range(kind: Union[imb.Kind, mpi4py_program.Kind]) -> str:
    return "" if isinstance(kind, mpi4py_program.Kind) else f", {kind.low} to {kind.high} bytes"


def _imb_kinds(ranks: int) -> list[dict]:
    """Short and long messages apart: they deserve different numbers of repetitions."""
    oversubscribed = ranks > len(cores())
    common = {"seconds": 0.6 if oversubscribed else 0.25}
    short = {**common, "low": 8, "high": 64 * KIB, "repetitions": 100 if oversubscribed else 1000}
    long = {**common, "low": 128 * KIB, "high": 4 * MIB, "repetitions": 5 if oversubscribed else 20}
    return [short, {**long, "collectives": imb.COLLECTIVES[1:]}]


def _imb_round(mpi: Mpi, ranks: int, number: int) -> Iterator[Step]:
    for settings in _imb_kinds(ranks):
        sides = [False, True] if number % 2 == 0 else [True, False]
        for espalier in sides:
            kind = imb.Kind(mpi, ranks, espalier, **settings)
            yield Step("imb", "espalier" if espalier else "host", kind, number, optional=number > 0)


def _as_it_comes(mpi: Mpi, ranks: int) -> Iterator[Step]:
    """Only a few points: a barrier takes milliseconds there."""
    kind = imb.Kind(mpi, ranks, False, default=True, high=8, repetitions=5)
    yield Step("imb", "default", kind, 0, optional=True)


def _mpi4py_round(mpi: Mpi, ranks: int, number: int) -> Iterator[Step]:
    for espalier in [False, True] if number % 2 == 0 else [True, False]:
        kind = mpi4py_program.Kind(mpi, ranks, espalier)
        yield Step("mpi4py", "espalier" if espalier else "host", kind, number, optional=number > 0)


def steps(mpi: Mpi, rounds: int, ranks: tuple[int, ...]) -> list[Step]:
    """Round by round over everything, so that a run which is cut short has some of all."""
    found: list[Step] = []
    for number in range(rounds):
        for n in ranks if mpi.imb else ():
            found += _imb_round(mpi, n, number)
            if number == 0 and n > len(cores()) and mpi.host.oversubscribed:
                found += _as_it_comes(mpi, n)
        for n in ranks if mpi.python and number < 3 else ():
            found += _mpi4py_round(mpi, n, number)
    return found


def _run_imb(step: Step, collected: Collected, limit: float) -> None:
    assert isinstance(step.kind, imb.Kind)
    outcome, lines = imb.run(step.kind, limit)
    collected.ran(step.title, outcome, len(lines))
    for line in lines:
        collected.add("imb", line.ranks, line.collective, line.bytes, step.side, step.number, line.most)


def _run_mpi4py(step: Step, collected: Collected, limit: float) -> None:
    assert isinstance(step.kind, mpi4py_program.Kind)
    outcome, points = mpi4py_program.run(step.kind, limit)
    collected.ran(step.title, outcome, len(points))
    for point in points:
        collected.add("mpi4py", step.kind.ranks, point["collective"], point["bytes"], step.side, step.number, point["us"])
        if not point["right"]:
            wrong = f"gave a wrong result: {point['collective']} of {point['bytes']} bytes"
            collected.failures.append({**outcome.failure(), "title": step.title, "why": wrong})


def _missing(todo: list[Step], collected: Collected) -> Iterator[str]:
    for ranks in sorted({step.kind.ranks for step in todo if step.program == "imb"}):
        expected = imb.points(ranks, 8, 4 * MIB)
        times = collected.times["imb"]
        lost = [place for place in expected if not (times[place]["host"].keys() & times[place]["espalier"].keys())]
        if lost:
            yield (
                f"IMB-MPI1, {ranks} ranks: no comparison at {len(lost)} of {len(expected)} points, "
                "where a job failed or IMB's own time limit came first; try again when the machine is quiet"
            )


def run(todo: list[Step], seconds: float, progress: Callable[[Step, int], None]) -> Collected:
    """`progress(step, number)` is told before each step. Optional steps are left out when `seconds` are over."""
    collected, begin = Collected(), time.monotonic()
    for number, step in enumerate(todo):
        spent = time.monotonic() - begin
        if step.optional and spent > seconds:
            continue
        progress(step, number)
        limit = max(20.0, seconds - spent)
        (_run_imb if step.program == "imb" else _run_mpi4py)(step, collected, limit)
    collected.notes += _missing(todo, collected)
    return collected
