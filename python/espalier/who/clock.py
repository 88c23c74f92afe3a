"""From the ticks in a record to how long ago that was."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.who.record import Rank

_LEAST_APART_NS = 1_000_000


@dataclass(frozen=True)
class Clock:
    """Of one machine: its cores count alike."""

    ticks: int
    nanoseconds: int
    per_tick: float  # nanoseconds; 0: not known

    def ago(self, ticks: Optional[int], now: int) -> Optional[float]:
        """Seconds from then to `now` of CLOCK_MONOTONIC."""
        if ticks is None or not self.per_tick:
            return None
        return max(0.0, (now - self.nanoseconds - (ticks - self.ticks) * self.per_tick) * 1e-9)


def clock_of(ranks: Iterable[Rank]) -> Clock:
    """By the two moments that are farthest apart, and anchored at the later one."""
    moments = sorted((moment for rank in ranks for moment in rank.moments if moment[1]), key=lambda each: each[1])
    if not moments or moments[-1][1] - moments[0][1] < _LEAST_APART_NS or moments[-1][0] == moments[0][0]:
        return Clock(0, 0, 0.0)
    (first_ticks, first_ns), (last_ticks, last_ns) = moments[0], moments[-1]
    return Clock(last_ticks, last_ns, (last_ns - first_ns) / (last_ticks - first_ticks))


def boot_of(text: str) -> str:
    """What the kernel calls this start of the machine: ranks with the same one have one CLOCK_MONOTONIC."""
    return text.strip()[:64]


def boot() -> str:
    try:
        return boot_of(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError):
        return ""


def now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
