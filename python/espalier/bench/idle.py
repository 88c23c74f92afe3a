"""Whether others use the processors: what is measured beside them is not to be trusted."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Optional

from espalier.interface import suggest
from espalier.problem import Problem

WAYS = ("ask", "wait", "go")
BUSY_SHARE = 0.25  # of the processors, in use by others
LONGEST_WAIT = 300.0  # seconds; then it goes on, and the result says that the machine was busy
_LOOK = 1.0  # seconds


def _ticks() -> Optional[tuple[int, int]]:
    """Idle ones, and all, of all processors."""
    try:
        fields = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except (OSError, ValueError, IndexError):
        return None
    return fields[3] + fields[4], sum(fields)


def share_in_use(seconds: float = _LOOK) -> float:
    """Of the processors; the load where the system counts no ticks."""
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    if before is None or after is None or after[1] == before[1]:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    return 1 - (after[0] - before[0]) / (after[1] - before[1])


def busy() -> Optional[str]:
    """In words. The load of the last minute counts only while there still is some: it outlasts what made it."""
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load < 0.5 * cores:
        return None
    share = share_in_use()
    return f"load {load:.1f} on {cores} cores, {share:.0%} of the processors in use" if share > BUSY_SHARE else None


def way_of(text: Optional[str]) -> str:
    """As asked; else it asks where someone can answer, and waits where no one can."""
    if text is not None:
        return suggest.one_of("--when-busy", text, WAYS)
    return "ask" if sys.stdin.isatty() and sys.stderr.isatty() else "wait"


def settle(way: str, longest: float = LONGEST_WAIT) -> None:
    """Returns when the measuring may begin. Raises Problem if the user says no."""
    words = busy() if way != "go" else None
    if words is None:
        return
    if way == "ask":
        return _ask(words)
    print(f"espalier: the machine is busy ({words}); waiting up to {longest:.0f} s (--when-busy go: do not)", file=sys.stderr)
    until = time.monotonic() + longest
    while words and time.monotonic() < until:
        words = busy()
    if words:
        print(f"espalier: still busy ({words}); the times are not to be trusted", file=sys.stderr)


def _ask(words: str) -> None:
    print(f"espalier: the machine is busy ({words}): times would not be to be trusted. Measure? [y/N] ", end="", file=sys.stderr)
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Problem("nothing was measured; --when-busy wait waits, --when-busy go measures", code=1)
