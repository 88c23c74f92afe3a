"""Whether a plan is faster than the default beyond the noise. Pure functions of samples: nothing here measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple, Optional

from espalier.measured.interval import Interval, interval
from espalier.measured.point import CONTROL, DEFAULT, Point

CONFIDENCE = 0.98  # of the interval of a median: one point in a hundred may look faster that is not
LEAST_GAIN = 0.03  # what is less is no reason to leave the default
LOSES_BY = 1.10  # in the search: slower than the leader by so much, in every round
NOTHING = "nothing was faster by 3%"
MOST_BLOCK_LOSS = 1.02  # calls that follow on each other may not get slower either


class Sample(NamedTuple):
    """One round: every side once, one after the other. Microseconds of one call."""

    point: Point
    us: dict[str, float]
    block_us: dict[str, float]  # of calls that follow on each other; {}: not measured


def ratios(samples: Iterable[Sample], side: str, other: str = DEFAULT) -> list[float]:
    """Round by round, since both sides of a round met the same disturbance."""
    return [s.us[side] / s.us[other] for s in samples if side in s.us and other in s.us and s.us[other] > 0]


def medians(samples: Sequence[Sample]) -> dict[str, float]:
    sides = {side for sample in samples for side in sample.us}
    return {side: median(s.us[side] for s in samples if side in s.us) for side in sides}


def leader(samples: Sequence[Sample], among: Iterable[str]) -> Optional[str]:
    """The side with the least median; of two alike the one that was named first."""
    found = medians(samples)
    sides = [side for side in among if side in found]
    return min(sides, key=lambda side: found[side], default=None)


def promises(samples: Sequence[Sample], sides: Iterable[str]) -> bool:
    """Whether some side leads the default by what counts. Where the default was not measured nothing does."""
    found = medians(samples)
    best = leader(samples, sides)
    return best is not None and DEFAULT in found and found[best] <= (1 - LEAST_GAIN) * found[DEFAULT]


def still_in(samples: Sequence[Sample], sides: Sequence[str], keep: int) -> list[str]:
    """The sides that are worth another round: the default, and at most `keep` others; none that was slower than the leader
    in every round, and by LOSES_BY in the median."""
    first = leader(samples, sides)
    if first is None:
        return list(sides)
    found = medians(samples)
    others = [side for side in sides if side != DEFAULT and (side == first or not _loses(samples, found, side, first))]
    others.sort(key=lambda side: found.get(side, math.inf))
    kept = set(others[:keep]) | {DEFAULT}
    return [side for side in sides if side in kept]


def _loses(samples: Sequence[Sample], found: dict[str, float], side: str, first: str) -> bool:
    if side not in found:
        return False
    return found[side] > LOSES_BY * found[first] and all(ratio > 1 for ratio in ratios(samples, side, first))


@dataclass(frozen=True)
class Verdict:
    point: Point
    chosen: str  # a side; DEFAULT: the rules in force stay
    why: str
    rounds: int
    gain: Optional[Interval] = None  # time of the challenger / time of the default
    us: dict[str, float] = field(default_factory=dict)  # medians of the rounds that were judged


def judge(point: Point, challenger: Optional[str], samples: Sequence[Sample]) -> Verdict:
    """`samples`: of rounds by which the challenger was not chosen. It was the best of several by chance, too: rounds by which
    it was chosen would flatter it."""
    if challenger is None or challenger == DEFAULT:
        return Verdict(point, DEFAULT, NOTHING, len(samples), None, medians(samples) if samples else {})
    found = ratios(samples, challenger)
    us = medians(samples) if samples else {}
    gains = [each for other in (DEFAULT, CONTROL) if (each := interval(ratios(samples, challenger, other), CONFIDENCE))]
    if not gains:
        why = f"{len(found)} rounds are too few to tell"
        return Verdict(point, DEFAULT, why, len(found), None, us)
    gain = max(gains, key=lambda each: each.high)  # beside the better one of the two that have the default's plan
    if gain.high > 1 - LEAST_GAIN:
        return Verdict(point, DEFAULT, "within the noise", len(found), gain, us)
    if _block_loss(samples, challenger) > MOST_BLOCK_LOSS:
        return Verdict(point, DEFAULT, "slower where calls follow on each other", len(found), gain, us)
    return Verdict(point, challenger, "faster", len(found), gain, us)


def _block_loss(samples: Sequence[Sample], side: str) -> float:
    found = [s.block_us[side] / s.block_us[DEFAULT] for s in samples if s.block_us.get(DEFAULT) and side in s.block_us]
    return median(found) if found else 0.0
