"""What a collective may cost at most beside others (Träff, Gropp, Thakur: Self-consistent MPI Performance Guidelines, 2010):
who calls it could call these in its place. Sizes are counted as `espalier bench` counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

from espalier.measured.interval import Interval
from espalier.measured.point import Point

Ask = Callable[[str, int], Optional[Interval]]  # collective, bytes


@dataclass(frozen=True)
class Guideline:
    collective: str
    text: str
    parts: Callable[[int, int], list[tuple[str, int]]]  # (bytes, ranks): the calls that would do

    def most(self, ask: Ask, point: Point) -> Optional[float]:
        """Microseconds; None: not all of them were measured."""
        total = 0.0
        for name, size in self.parts(point.size, point.ranks):
            found = ask(name, 0 if name == "barrier" else size)
            if found is None:
                return None
            total += found.middle
        return total


GUIDELINES = (
    Guideline("allreduce", "reduce and bcast", lambda n, p: [("reduce", n), ("bcast", n)]),
    Guideline("reduce", "allreduce", lambda n, p: [("allreduce", n)]),
    Guideline("bcast", "scatter and allgather", lambda n, p: [("scatter", n // p), ("allgather", n // p)]),
    Guideline("barrier", "an allreduce of 8 bytes", lambda n, p: [("allreduce", 8)]),
    Guideline("gather", "allgather", lambda n, p: [("allgather", n)]),
    Guideline("allgather", "gather and bcast", lambda n, p: [("gather", n), ("bcast", n * p)]),
    Guideline("allgather", "alltoall", lambda n, p: [("alltoall", n * p)]),
    Guideline("scatter", "a bcast of all blocks", lambda n, p: [("bcast", n * p)]),
    Guideline("reduce_scatter_block", "reduce and scatter", lambda n, p: [("reduce", n), ("scatter", n // p)]),
    Guideline("reduce_scatter_block", "allreduce", lambda n, p: [("allreduce", n)]),
    Guideline("reduce_scatter", "allreduce", lambda n, p: [("allreduce", n)]),
    # A scan folds no more than an allreduce does that every rank makes by itself from an allgather.
    Guideline("exscan", "scan", lambda n, p: [("scan", n)]),
    Guideline("scan", "an allgather, and folds of its own", lambda n, p: [("allgather", n), ("allreduce", n)]),
    Guideline("gatherv", "allgatherv", lambda n, p: [("allgatherv", n)]),
)
