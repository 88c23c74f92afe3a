"""What holds a process up that does nothing wrong: other programs on its processor, or memory that has to be read back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional

from espalier.who import processes
from espalier.who.seen import Seen

DELAYED = 0.25  # of the time between the looks: a rank that is ready so long, and has no processor, waits for it
_FAULTS = 40  # per second: less a program makes that comes to code it has not run before
_NAMED = 3  # programs on the same core

_SWAP = re.compile(r"^VmSwap:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """Of one thread, since it began."""

    ran: int  # nanoseconds on a processor
    waited: int  # ready, and not on a processor
    times: int  # it was put on one


Runs = dict[int, Run]  # by thread


def runs_of(pid: int) -> Runs:
    """Empty where the kernel does not count, or the process is gone."""
    found: Runs = {}
    try:
        for name in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{name}/schedstat", encoding="ascii") as file:
                found[int(name)] = Run(*map(int, file.read().split()))
    except (OSError, ValueError, TypeError):
        pass
    return found


def delay(before: Runs, now: Runs, stays_ready: bool, seconds: float) -> Optional[float]:
    """The part of that time for which the thread that waited most was ready and had no processor; None: not known.

    `stays_ready`: the process was in state R at both looks.
    """
    pairs = [(before[thread], run) for thread, run in now.items() if thread in before]
    if not pairs or seconds <= 0:
        return None
    if stays_ready and all((run.ran, run.times) == (then.ran, then.times) for then, run in pairs):
        return 1.0  # the kernel counts a wait when it ends
    return min(1.0, max(run.waited - then.waited for then, run in pairs) * 1e-9 / seconds)


def ran(before: Runs, now: Runs, seconds: float) -> Optional[float]:
    """Of one core, finer than the ticks of /proc/PID/stat."""
    if not before or not now or seconds <= 0:
        return None
    total = sum(run.ran - before[thread].ran for thread, run in now.items() if thread in before)
    return max(0.0, total * 1e-9 / seconds)


def reads_memory(seen: Seen) -> bool:
    """Its pages are not in memory when it needs them."""
    return seen.faults > 0 and (seen.state == "D" or seen.faults >= _FAULTS * seen.between)


def waits_for_processor(seen: Seen) -> bool:
    return seen.is_alive and not seen.is_stopped and (seen.delayed or 0) >= DELAYED


def holds_up(seen: Seen) -> bool:
    """It goes on, but not by itself: reads its memory, or shares its core with a program that is no rank."""
    return reads_memory(seen) or (waits_for_processor(seen) and any(not name.startswith("rank ") for name in seen.beside))


def add_causes(ranks: Iterable[Seen], pids: Iterable[int]) -> None:
    """Of ranks of this machine that are held up: which programs share their core, and how much of their memory is away."""
    held = [seen for seen in ranks if waits_for_processor(seen) or reads_memory(seen)]
    if not held:
        return
    numbers = {seen.pid: seen.rank for seen in ranks}
    running = _running(pids) if any(map(waits_for_processor, held)) else {}
    for seen in held:
        seen.swapped = _swapped(seen.pid)
        others = [pid for pid in running.get(seen.core, ()) if pid != seen.pid]
        strangers = [f"{processes.name_of(pid)} (process {pid})" for pid in others if pid not in numbers]
        seen.beside = [*strangers, *(f"rank {numbers[pid]}" for pid in others if pid in numbers)]


def _running(pids: Iterable[int]) -> dict[Optional[int], list[int]]:
    """Those that run or are ready to, by core."""
    found: dict[Optional[int], list[int]] = {}
    for pid in pids:
        process = processes.look(pid)
        if process.state == "R":
            found.setdefault(process.core, []).append(pid)
    return found


def _swapped(pid: int) -> int:
    """Bytes."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            match = _SWAP.search(file.read())
    except OSError:
        return 0
    return int(match[1]) << 10 if match else 0


def cause(seen: Seen) -> str:
    """What is said of it; empty: nothing holds it up that can be seen."""
    if not seen.is_alive or seen.is_stopped or seen.has_left:
        return ""
    milliseconds = seen.between * 1e3
    if reads_memory(seen):
        away = f", {seen.swapped / (1 << 20):,.0f} MiB of it are in swap" if seen.swapped >= 1 << 20 else ""
        many = "" if seen.faults == 1 else "s"
        return f"reads its memory back: {seen.faults:,} major fault{many} in {milliseconds:.0f} ms{away}"
    if waits_for_processor(seen):
        return f"waits for its processor: {(seen.delayed or 0) * milliseconds:.0f} of {milliseconds:.0f} ms{_beside(seen)}"
    return ""


def _beside(seen: Seen) -> str:
    if not seen.beside:
        return f", on core {seen.core}" if seen.core is not None else ""
    names = seen.beside[:_NAMED]
    more = len(seen.beside) - len(names)
    text = ", ".join(names) + (f" and {more} more" if more else "")
    return f", beside {text} on core {seen.core}"
