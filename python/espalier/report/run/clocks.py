"""One clock for the ranks of a run. Ranks of one machine have one: CLOCK_MONOTONIC. Those of several machines count from the
start of each, so they are put beside each other by calls that no rank leaves before all have come."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Optional

from espalier.bench.collectives import HOLD_TOGETHER
from espalier.who.seen import Call, Seen

Key = tuple[Optional[str], bool, Optional[int]]


def offsets(ranks: Sequence[Seen]) -> tuple[dict[str, int], list[str]]:
    """By the start of a machine (`boot`): nanoseconds to add to its clock; and what there is to say about them."""
    boots = list(dict.fromkeys(seen.boot for seen in ranks))
    found, words = {boots[0]: 0}, []
    first = _ends([seen for seen in ranks if seen.boot == boots[0]])
    for boot in boots[1:]:
        ends = _ends([seen for seen in ranks if seen.boot == boot])
        common = [first[key] - ends[key] for key in first.keys() & ends.keys()]
        found[boot] = round(median(common)) if common else min(first.values(), default=0) - min(ends.values(), default=0)
        words.append(_words([seen.rank for seen in ranks if seen.boot == boot], len(common)))
    return found, words


def _words(ranks: list[int], common: int) -> str:
    who = f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks[:8]))}{' ...' if len(ranks) > 8 else ''}"
    if not common:
        return f"The clock of {who} is another machine's, and no call is common: where they are beside the others is not known."
    return (
        f"The clock of {who} is another machine's. It is set so that the {common} calls that no rank leaves before all have come "
        "ended at one time on both, in the median; waiting across machines is as exact as that assumption."
    )


def _ends(ranks: Sequence[Seen]) -> dict[Key, int]:
    """Of each call that holds ranks together: when its first rank left it, by their own clock."""
    found: dict[Key, int] = {}
    for seen in ranks:
        for call in seen.calls:
            end = nanoseconds(seen, call.ended)
            if end is not None and call.sequence is not None and call.collective in HOLD_TOGETHER:
                found[call.key] = min(found.get(call.key, end), end)
    return found


def nanoseconds(seen: Seen, ago: Optional[float]) -> Optional[int]:
    return None if ago is None else seen.at_ns - round(ago * 1e9)


def begin(seen: Seen, call: Call) -> Optional[int]:
    return nanoseconds(seen, call.seconds)
