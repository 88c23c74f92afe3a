"""Intervals of medians."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple, Optional


class Interval(NamedTuple):
    low: float
    middle: float
    high: float


def interval(values: Sequence[float], confidence: float) -> Optional[Interval]:
    """Of the median, without a thought about the distribution: the order statistics between which it lies with at least
    this probability (binomial). None: there are too few values for any."""
    ordered = sorted(values)
    n = len(ordered)
    outside = 0.0
    cut = -1  # so many values at each end are left out
    for k in range(n // 2):
        outside += math.comb(n, k) / 2.0**n
        if 2 * outside > 1 - confidence:
            break
        cut = k
    if cut < 0:
        return None
    return Interval(ordered[cut], median(ordered), ordered[n - 1 - cut])


def least_rounds(confidence: float) -> int:
    """From so many on there is an interval."""
    n = 1
    while 2 / 2.0**n > 1 - confidence:
        n += 1
    return n
