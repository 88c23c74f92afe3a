"""Where a call's cost jumps against the trend. Pure functions of times: nothing here measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any, Optional

from espalier.digits import three_digits
from espalier.lint.guidelines import GUIDELINES
from espalier.measured.interval import Interval
from espalier.measured.point import Point
from espalier.measured.times import Key, Times
from espalier.sizes import print_bytes

Json = dict[str, Any]

BEYOND = 1.5  # times what it should cost at most, in the median
SURELY = 1.2  # and the low end of the interval
_LEAST_US = 0.3  # less than that is the clock's and the processor's affair
_ROUNDS_OF_A_ROOT = 3
_TOLD_AGAIN = 1.2  # times as much too long as a shorter size of the same collective
_RANK_GROWTH = 4.0  # beyond a growth by the number of ranks: each may wait for each
_SWITCHES_US = 5.0  # of each rank of a core, where ranks share cores: from it and to it, and once more
_DOUBLED = 2


@dataclass
class Finding:
    kind: str  # size, length, jump, ranks, root, alignment, datatype, guideline
    key: Key
    us: float
    expected: float
    what: str
    remedies: list[Json] = field(default_factory=list)
    root: Optional[int] = None  # the one that is slow, of a finding about roots
    alone_us: Optional[float] = None  # in a job that makes no other call; None: not tried

    @property
    def factor(self) -> float:
        return self.us / self.expected

    @property
    def is_gone_alone(self) -> bool:
        """It costs what it should where the program makes no other call, so that no setting can be said to help."""
        return self.alone_us is not None and self.alone_us <= SURELY * self.expected

    @property
    def call(self) -> str:
        point = self.key.point
        size = f" {print_bytes(point.size)}" if point.size else ""
        return f"{point.collective}{size}, {point.ranks} ranks"


def is_beyond(us: Optional[Interval], most: Optional[float]) -> bool:
    """More than it should cost at most, and not by chance."""
    if us is None or most is None or us.middle < _LEAST_US:
        return False
    return us.middle > BEYOND * most and us.low > SURELY * most


def _lengths(times: Times) -> Iterator[Finding]:
    """n bytes may not take longer than more bytes."""
    for ranks in times.ranks():
        for name in times.collectives():
            sizes = times.sizes(ranks, name)
            for shorter, size in zip(sizes, sizes[1:]):
                before, here = times.us(ranks, name, shorter), times.us(ranks, name, size)
                if here is not None and before is not None and is_beyond(before, here.high):
                    what = f"{print_bytes(size)} take {three_digits(here.middle)} us"
                    yield Finding("length", Key(Point(ranks, name, shorter)), before.middle, here.middle, what)


def _sizes(times: Times) -> Iterator[Finding]:
    """Nor longer than calls of any shorter size that carry as many bytes together. What a shorter size has lost already is
    not told again."""
    for ranks in times.ranks():
        for name in times.collectives():
            told = 1.0
            for size in times.sizes(ranks, name):
                shorter = _best_cut(times, ranks, name, size)
                here = times.us(ranks, name, size)
                if shorter is None or here is None:
                    continue
                part = times.us(ranks, name, shorter)
                assert part is not None
                calls = size / shorter
                if is_beyond(here, part.high * calls) and here.middle > _TOLD_AGAIN * told * part.middle * calls:
                    told = here.middle / (part.middle * calls)
                    what = f"{three_digits(calls)} calls of {print_bytes(shorter)} take {three_digits(part.middle * calls)} us"
                    yield Finding("size", Key(Point(ranks, name, size)), here.middle, part.middle * calls, what)


def _best_cut(times: Times, ranks: int, name: str, size: int) -> Optional[int]:
    """The shorter size of which so many calls as carry these bytes take least."""
    found = {}
    for shorter in times.sizes(ranks, name):
        us = times.us(ranks, name, shorter)
        if 0 < shorter < size and us is not None:
            found[shorter] = us.middle * size / shorter
    return min(found, key=found.__getitem__, default=None)


def _jumps(times: Times) -> Iterator[Finding]:
    """Also below the line on which bytes cost as much as before: a step that its neighbours' steps do not have, such as a
    change of protocol. Only of sizes that are doubled: a longer step may pass from what every call costs to what bytes cost."""
    for ranks in times.ranks():
        for name in times.collectives():
            sizes = [size for size in times.sizes(ranks, name) if size]
            for at in range(1, len(sizes)):
                here, before = (times.us(ranks, name, sizes[at - i]) for i in (0, 1))
                steps = [_step(times, ranks, name, sizes, i) for i in (at - 1, at + 1)]
                others = [step for step in steps if step is not None]
                if here is None or before is None or not others or sizes[at] > _DOUBLED * sizes[at - 1]:
                    continue
                step = max(1.0, *others)
                if is_beyond(here, before.high * step):
                    what = (f"{print_bytes(sizes[at - 1])} take {three_digits(before.middle)} us, "
                            f"and the steps beside it are of {three_digits(step)}")
                    yield Finding("jump", Key(Point(ranks, name, sizes[at])), here.middle, before.middle * step, what)


def _step(times: Times, ranks: int, name: str, sizes: list[int], at: int) -> Optional[float]:
    """How many times as long as the size before it takes."""
    if not 1 <= at < len(sizes) or sizes[at] > _DOUBLED * sizes[at - 1]:
        return None
    before, here = times.us(ranks, name, sizes[at - 1]), times.us(ranks, name, sizes[at])
    return here.middle / before.middle if before and here and before.middle > 0 else None


def _ranks(times: Times, cores: int) -> Iterator[Finding]:
    all_ranks = times.ranks()
    for few, many in zip(all_ranks, all_ranks[1:]):
        for key in times.calls():
            point = key.point
            if point.ranks != many or key.way:
                continue
            before, here = times.us(few, point.collective, point.size), times.of(key)
            if before is None or here is None:
                continue
            most = _RANK_GROWTH * many / few * before.middle + (_SWITCHES_US * many / cores if many > cores else 0.0)
            if is_beyond(here, most):
                more = f", with {three_digits(many / cores)} ranks to a core" if many > cores >= few else ""
                yield Finding("ranks", key, here.middle, most, f"{few} ranks take {three_digits(before.middle)} us{more}")


def _roots(times: Times) -> Iterator[Finding]:
    for key in times.calls():
        by_root = {root: us for root, us in times.by_root(key).items() if len(us) >= _ROUNDS_OF_A_ROOT}
        if key.way or key.point.collective not in ("bcast", "reduce", "gather", "scatter") or len(by_root) < 2:
            continue
        middles = {root: median(us) for root, us in by_root.items()}
        slow, quick = max(middles, key=middles.__getitem__), min(middles, key=middles.__getitem__)
        spread = Interval(min(by_root[slow]), middles[slow], max(by_root[slow]))
        if is_beyond(spread, max(by_root[quick])):
            what = f"root {slow}; root {quick} takes {three_digits(middles[quick])} us"
            yield Finding("root", key, middles[slow], middles[quick], what, root=slow)


def _ways(times: Times) -> Iterator[Finding]:
    words = {
        "shifted": ("alignment", "buffers 8 bytes off a page; on a page"),
        "derived": ("datatype", "a datatype of one MPI_DOUBLE; MPI_DOUBLE"),
    }
    for key in times.calls():
        plain = times.of(Key(key.point)) if key.way else None
        here = times.of(key)
        if plain is None or here is None or not is_beyond(here, plain.high):
            continue
        kind, text = words[key.way]
        yield Finding(kind, key, here.middle, plain.middle, f"{text} takes {three_digits(plain.middle)} us")


def _guidelines(times: Times) -> Iterator[Finding]:
    for key in times.calls():
        if key.way:
            continue
        for guideline in GUIDELINES:
            if guideline.collective != key.point.collective:
                continue
            most = guideline.most(partial(times.us, key.point.ranks), key.point)
            here = times.of(key)
            if here is not None and most is not None and is_beyond(here, most):
                yield Finding("guideline", key, here.middle, most, f"{guideline.text}: {three_digits(most)} us")


def all_of(times: Times, cores: int) -> list[Finding]:
    """The worst first; of one call the worst of each kind."""
    parts = (_sizes(times), _lengths(times), _jumps(times), _ranks(times, cores), _roots(times), _ways(times), _guidelines(times))
    found = sorted((finding for part in parts for finding in part), key=lambda finding: -finding.factor)
    kept: dict[tuple[Key, str], Finding] = {}
    for finding in found:
        kept.setdefault((finding.key, finding.kind), finding)
    return list(kept.values())
