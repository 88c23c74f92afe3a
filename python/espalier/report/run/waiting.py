"""For whom a rank of a collective has to wait, whatever serves it; the rules of src/runtime/statistics/arrivals.cpp."""

from __future__ import annotations

from math import sqrt
from typing import Optional

_FROM_ROOT = ("bcast", "scatter", "scatterv")
_TO_ROOT = ("reduce", "gather", "gatherv")
_SCANS = ("scan", "exscan")


def awaited(collective: str, rank: int, ranks: int, root: Optional[int]) -> range:
    """Ranks of the communicator, its own among them where that makes no difference."""
    if collective in _SCANS:
        return range(rank)
    if collective in _FROM_ROOT and root is not None:
        return range(root, root if rank == root else root + 1)
    if collective in _TO_ROOT and root is not None:
        return range(ranks if rank == root else 0)
    return range(ranks)


def is_awaited(collective: str, rank: int, ranks: int, root: Optional[int]) -> bool:
    """By any other."""
    if collective in _SCANS:
        return rank + 1 < ranks
    if collective in _FROM_ROOT:
        return rank == root
    return collective not in _TO_ROOT or rank != root


def is_beyond_chance(times: int, calls: int, ranks: int) -> bool:
    """One of so many ranks came last so often: two standard deviations more than if each had the same chance."""
    share = 1 / max(ranks, 1)
    return times > calls * share + 2 * sqrt(calls * share * (1 - share))
