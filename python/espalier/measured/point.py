"""One call that is tuned for, and how rules name it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from espalier.bench.collectives import NAMES

Json = dict[str, Any]

HOST = "host"  # the side that is the host MPI by its own
DEFAULT = "0"  # the side that has the rules in force: trial 0
# The rules in force once more, on another communicator: where its memory lies makes a few percent, for the whole of a job.
CONTROL = "15"

_UNKNOWN_SIZE = ("gatherv", "scatterv", "alltoallv")  # no rank knows what the others have: rules see 0 bytes
_SHARED = ("alltoall", "alltoallv", "reduce_scatter", "reduce_scatter_block")  # each rank has an element at least
_ELEMENT = 8
BLOCKS = ("allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv")  # one for each rank


class Point(NamedTuple):
    ranks: int
    collective: str
    size: int  # as `espalier bench` counts bytes; 0 for a barrier


def bytes_of_rules(point: Point) -> Optional[int]:
    """What rules call the size of this call; None: their condition on bytes says nothing of it."""
    if point.collective == "barrier" or point.collective in _UNKNOWN_SIZE:
        return None
    return max(point.size, _ELEMENT * point.ranks) if point.collective in _SHARED else point.size


def memory_of(point: Point) -> int:
    """Bytes of the buffers of all ranks together."""
    each = point.size * (1 + point.ranks) if point.collective in BLOCKS else 2 * point.size
    return each * point.ranks


def points(ranks: Iterable[int], collectives: Iterable[str], sizes: Iterable[int], most_memory: int) -> list[Point]:
    wanted = set(collectives)
    found = []
    for each in ranks:
        for name in NAMES:
            asked = [0] if name == "barrier" else list(sizes)
            found += [Point(each, name, size) for size in asked if name in wanted]
    return [point for point in found if memory_of(point) <= most_memory]
