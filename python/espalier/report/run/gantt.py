"""The last calls of all ranks on one clock: when each came, how long it waited for others, and which rank was the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Optional

from espalier.problem import Problem
from espalier.report.run import clocks, waiting
from espalier.who.seen import Call, Seen


@dataclass(frozen=True)
class Bar:
    """A call of a rank. Seconds since the first one that is known."""

    rank: int
    collective: str
    communicator: Optional[str]
    number: Optional[int]  # among the communicator's calls
    bytes: Optional[int]
    by_host: bool
    begin: float
    end: float
    waited: Optional[float] = None  # of it, from the begin, for the last rank that it has to wait for; None: that is not known
    is_last: bool = False  # it came last, and others waited for it

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass(frozen=True)
class Gantt:
    ranks: list[int]
    bars: list[Bar]  # by begin
    without_times: int = 0
    notes: tuple[str, ...] = ()

    @property
    def begin(self) -> float:
        return min((bar.begin for bar in self.bars), default=0.0)

    @property
    def end(self) -> float:
        return max((bar.end for bar in self.bars), default=0.0)


class _Timed(NamedTuple):
    seen: Seen
    call: Call
    begin: int
    end: int


def of_ranks(ranks: Sequence[Seen]) -> Gantt:
    """All that is known of the ranks of one job."""
    if not ranks:
        return Gantt([], [])
    shifts, notes = clocks.offsets(ranks)
    timed, without = [], 0
    for seen in ranks:
        for call in (*seen.calls, *seen.inside):
            # What has not ended goes on until the moment at which it was seen.
            begin, end = clocks.begin(seen, call), clocks.nanoseconds(seen, 0.0 if call in seen.inside else call.ended)
            if begin is None or end is None:
                without += 1
            else:
                shift = shifts[seen.boot]
                timed.append(_Timed(seen, call, begin + shift, max(begin, end) + shift))
    zero = min((each.begin for each in timed), default=0)
    found = [bar for group in _by_call(timed) for bar in _bars(group, zero)]
    return Gantt([seen.rank for seen in ranks], sorted(found, key=lambda bar: bar.begin), without, tuple(notes))


def _by_call(timed: Iterable[_Timed]) -> list[list[_Timed]]:
    """The ranks' parts of one call beside each other; of what is not known to be one, each by itself."""
    groups: dict[object, list[_Timed]] = {}
    for each in timed:
        is_known = each.call.communicator is not None and each.call.sequence is not None
        groups.setdefault(each.call.key if is_known else id(each), []).append(each)
    return list(groups.values())


def _bars(group: list[_Timed], zero: int) -> list[Bar]:
    came = _came(group)
    plain = [_bar(each, zero) for each in group]
    if came is None:
        return plain
    size, by_rank = came
    found = []
    for each, bar in zip(group, plain):
        comm = each.seen.comm(each.call.communicator)
        assert comm is not None
        found.append(_with_waiting(bar, each, comm.rank, size, by_rank))
    return found


def _came(group: list[_Timed]) -> Optional[tuple[int, dict[int, int]]]:
    """Ranks of the communicator, and when each came; None: not known, or the ranks do not call the same."""
    comms = [each.seen.comm(each.call.communicator) for each in group]
    if any(comm is None for comm in comms) or len({(each.call.collective, each.call.root) for each in group}) != 1:
        return None
    by_rank = {comm.rank: each.begin for comm, each in zip(comms, group) if comm}
    return (comms[0].size, by_rank) if comms[0] and len(by_rank) == len(group) else None


def _bar(each: _Timed, zero: int) -> Bar:
    call = each.call
    return Bar(
        *(each.seen.rank, call.collective, call.communicator, call.sequence, call.bytes, call.by_host),
        *((each.begin - zero) * 1e-9, (each.end - zero) * 1e-9),
    )


def _with_waiting(bar: Bar, each: _Timed, rank: int, size: int, came: dict[int, int]) -> Bar:
    others = [other for other in waiting.awaited(bar.collective, rank, size, each.call.root) if other != rank]
    if any(other not in came for other in others):
        return bar
    latest = max((came[other] for other in others), default=each.begin)
    waited = min(max(latest, each.begin), each.end) - each.begin
    is_last = (
        len(came) == size
        and waiting.is_awaited(bar.collective, rank, size, each.call.root)
        and all(time < each.begin for other, time in came.items() if other != rank)
    )
    return replace(bar, waited=waited * 1e-9, is_last=is_last)


_FORM = "write FROM:TO, numbers of calls (120:140) or times (1.5ms:3ms)"
_UNITS = (("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("ns", 1e-9), ("s", 1.0))


def chosen(gantt: Gantt, stretch: Optional[str]) -> Gantt:
    """FROM:TO: numbers of calls of the communicator that has most of them, or times since the first call (1.5ms:3ms)."""
    if stretch is None:
        return gantt
    first, colon, last = stretch.partition(":")
    if not colon:
        raise Problem(f"--stretch {stretch}: {_FORM}")
    is_of_times = any(text.strip().endswith("s") for text in (first, last))
    choose = _of_times if is_of_times else _of_numbers
    bars = choose(gantt, first.strip(), last.strip(), stretch)
    if not bars:
        raise Problem(f"--stretch {stretch}: no call is in it; {_has(gantt)}")
    return replace(gantt, bars=bars)


def _of_times(gantt: Gantt, first: str, last: str, stretch: str) -> list[Bar]:
    low, high = (_seconds(first, stretch) if first else gantt.begin), (_seconds(last, stretch) if last else gantt.end)
    return _between(gantt.bars, low, high)


def _between(bars: Iterable[Bar], low: float, high: float) -> list[Bar]:
    return [bar for bar in bars if bar.end >= low and bar.begin <= high]


def _seconds(text: str, stretch: str) -> float:
    for unit, scale in _UNITS:
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) * scale
            except ValueError:
                break
    raise Problem(f"--stretch {stretch}: '{text}' is no time; write it as 1.5ms, 200us or 2s")


def _of_numbers(gantt: Gantt, first: str, last: str, stretch: str) -> list[Bar]:
    """Those of that communicator, and what other calls there are meanwhile."""
    try:
        low, high = (int(text) if text else None for text in (first, last))
    except ValueError:
        raise Problem(f"--stretch {stretch}: {_FORM}") from None
    of_main, others = _of_most_called(gantt)
    inside = [bar for bar in of_main if (low or 0) <= (bar.number or 0) and (high is None or (bar.number or 0) <= high)]
    if not inside:
        return []
    meanwhile = _between(others, min(bar.begin for bar in inside), max(bar.end for bar in inside))
    return sorted([*inside, *meanwhile], key=lambda bar: bar.begin)


def most_called(bars: Iterable[Bar]) -> tuple[Optional[str], bool]:
    counts: dict[tuple[Optional[str], bool], int] = {}
    for bar in bars:
        if bar.number is not None:
            counts[(bar.communicator, bar.by_host)] = counts.get((bar.communicator, bar.by_host), 0) + 1
    return max(counts, key=counts.__getitem__, default=(None, False))


def _of_most_called(gantt: Gantt) -> tuple[list[Bar], list[Bar]]:
    """The numbered calls of that communicator, and all others."""
    main = most_called(gantt.bars)
    parts: tuple[list[Bar], list[Bar]] = ([], [])
    for bar in gantt.bars:
        is_of_main = (bar.communicator, bar.by_host) == main and bar.number is not None
        parts[0 if is_of_main else 1].append(bar)
    return parts


def _has(gantt: Gantt) -> str:
    numbers = [bar.number for bar in _of_most_called(gantt)[0] if bar.number is not None]
    words = f"there are {gantt.end - gantt.begin:.3g} s"
    return f"{words}, calls {min(numbers)} to {max(numbers)}" if numbers else words
