"""What a Gantt shows, in a sentence, and as lines of a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from espalier.report.run import waiting
from espalier.report.run.gantt import Bar, Gantt
from espalier.stats.table import time

LANES = 32  # drawn at most


def verdict(gantt: Gantt) -> str:
    if not gantt.bars:
        return "No call of this stretch has its times; run with --flight, which gives them to each call."
    length = gantt.end - gantt.begin
    ranks = len({bar.rank for bar in gantt.bars})
    inside = sum(bar.seconds for bar in gantt.bars)
    known = [bar for bar in gantt.bars if bar.waited is not None]
    words = [
        f"In {time(length)} the {ranks} ranks made {len(gantt.bars)} calls"
        f" and were in them {_share(inside, length * ranks)} of the time"
    ]
    if known:
        waited = _share(sum(bar.waited or 0 for bar in known), sum(bar.seconds for bar in known))
        words.append(f"; {waited} of that they waited for the last rank")
    return "".join(words) + "." + _last(gantt.bars, ranks)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}\u00a0%" if whole > 0 else "none"


def _last(bars: Sequence[Bar], ranks: int) -> str:
    last = Counter(bar.rank for bar in bars if bar.is_last)
    total = sum(last.values())
    if not total:
        return ""
    rank, times = last.most_common(1)[0]
    rest = "" if waiting.is_beyond_chance(times, total, ranks) else ", as chance would have it"
    return f" Rank {rank} came last most often, in {times} of {total} calls{rest}.{_longest(bars)}"


def _longest(bars: Sequence[Bar]) -> str:
    """For which rank the others waited longest, all calls together."""
    by_call: dict[object, list[Bar]] = {}
    for bar in bars:
        by_call.setdefault((bar.communicator, bar.by_host, bar.number), []).append(bar)
    seconds: dict[int, float] = {}
    for group in by_call.values():
        for late in (bar for bar in group if bar.is_last):
            seconds[late.rank] = seconds.get(late.rank, 0.0) + sum(bar.waited or 0 for bar in group)
    rank = max(seconds, key=seconds.__getitem__)
    return f" Of the waiting {_share(seconds[rank], sum(seconds.values()))} is for rank {rank}."


def shown(gantt: Gantt) -> tuple[list[int], int]:
    """The ranks that have a lane, those that came last most often before others if not all have room; how many are left out."""
    ranks = sorted(set(gantt.ranks))
    if len(ranks) <= LANES:
        return ranks, 0
    last = Counter(bar.rank for bar in gantt.bars if bar.is_last)
    kept = sorted(ranks, key=lambda rank: (-last[rank], rank))[:LANES]
    return sorted(kept), len(ranks) - LANES


def letters(gantt: Gantt) -> dict[str, str]:
    """One for each collective of the stretch: its first that no other one has."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(bar.collective for bar in gantt.bars):
        free = [letter for letter in name + "0123456789xyz" if letter not in found.values() and letter != "_"]
        found[name] = free[0]
    return found


def lines(gantt: Gantt, columns: int) -> list[str]:
    """A line a rank: letters while it is in a call, dots of them where it waited, ! where the last one came."""
    ranks, left_out = shown(gantt)
    names = letters(gantt)
    label = max((len(f"rank {rank}") for rank in ranks), default=0)
    width = max(20, columns - label - 1)
    length = (gantt.end - gantt.begin) or 1.0

    def column(at: float) -> int:
        return min(width - 1, max(0, int((at - gantt.begin) / length * width)))

    drawn = []
    for rank in ranks:
        lane = [" "] * width
        for bar in (bar for bar in gantt.bars if bar.rank == rank):
            first, last = column(bar.begin), column(bar.end)
            turns = column(bar.begin + (bar.waited or 0))
            for at in range(first, last + 1):
                lane[at] = "." if at < turns else names[bar.collective]
            if bar.is_last:
                lane[first] = "!"
        drawn.append(f"{f'rank {rank}':<{label}} {''.join(lane)}".rstrip())
    legend = ", ".join(f"{letter} {name}" for name, letter in names.items())
    drawn.append(f"{'':<{label}} 0{time(length).rjust(width - 1)}")
    drawn.append(f"{legend}; . waits for the last rank; ! comes last; blank: outside")
    return drawn + ([f"{left_out} more ranks are not shown"] if left_out else [])
