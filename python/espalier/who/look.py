"""Looks at the jobs of this machine: their memory, their processes, and both again a moment later."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional

from espalier.who import clock, memory, places, pressure, processes, record, stacks, waiting
from espalier.who.processes import Process
from espalier.who.record import Rank
from espalier.who.seen import Call, Comm, Seen

SHOWN = 64  # of a rank's last calls
APART = 0.1  # seconds between the two looks
FOR_STACKS = 0.6

Jobs = dict[str, list[Seen]]  # by id, each by rank


@dataclass(frozen=True)
class _Before:
    """A process at the first look."""

    process: Process
    runs: pressure.Runs


def jobs(pids: Iterable[int], shown: int = SHOWN) -> Jobs:
    """Of all ranks in the memory that those processes have. `shown`: so many of each rank's last calls."""
    pids = list(pids)
    first = memory.ranks_seen_by(pids)
    if not first:
        return {}
    before = {rank.process: _Before(processes.look(rank.process, rank.started), pressure.runs_of(rank.process)) for rank in first}
    began = clock.now()
    time.sleep(APART)
    second = {(rank.job, rank.rank): rank for rank in memory.ranks_seen_by(pids)}
    now = clock.now()
    counts = clock.clock_of([*first, *second.values()])
    seconds = (now - began) * 1e-9
    found: Jobs = {}
    for rank in first:
        later = second.get((rank.job, rank.rank), rank)
        found.setdefault(rank.job, []).append(_seen(rank, later, before[rank.process], counts, now, seconds, shown))
    for ranks in found.values():
        ranks.sort(key=lambda seen: seen.rank)
        pressure.add_causes(ranks, processes.all_pids())
    return found


def _seen(
    earlier: Rank, rank: Rank, before: _Before, counts: clock.Clock, now: int, seconds: float, shown: int
) -> Seen:
    process = processes.look(rank.process, rank.started)
    seen = seen_of(rank, counts, now, shown, places.of_process(rank.process) if process.is_alive else [])
    seen.state = process.state
    seen.at_ns, seen.boot = now, clock.boot()
    seen.waits_in = process.waits_in
    begun = _begun(rank) - _begun(earlier)
    seen.has_moved = begun != 0
    if seconds > 0:
        seen.calls_per_second = begun / seconds
        if process.is_alive:
            _add_use(seen, process, before, seconds)
    return seen


def _add_use(seen: Seen, process: Process, before: _Before, seconds: float) -> None:
    """Of the processor and of memory, between the looks."""
    runs = pressure.runs_of(process.pid)
    ran = pressure.ran(before.runs, runs, seconds)
    seen.processor = (process.seconds - before.process.seconds) / seconds if ran is None else ran
    stays_ready = before.process.state == process.state == "R"
    seen.delayed = pressure.delay(before.runs, runs, stays_ready, seconds)
    seen.between, seen.core = seconds, process.core
    seen.faults = max(0, process.faults - before.process.faults)


def seen_of(rank: Rank, counts: clock.Clock, now: int, shown: int, mappings: list[places.Mapping]) -> Seen:
    """Without what its process says. `shown`: so many of its last calls."""
    main = max(rank.threads, key=lambda thread: thread.begun, default=None)
    last = main.last[-shown:] if main else []
    sites = {call.site for call in (*last, *(thread.current for thread in rank.threads if thread.current))}
    waits_at = next((thread.waits_at for thread in rank.threads if thread.waits_at), 0)
    names = places.names_of(mappings, sites | {waits_at})

    def call(each: record.Call) -> Call:
        comm = rank.communicators.get(each.handle)
        return Call(
            *(comm.id if comm else None, each.collective, each.sequence, each.by_host, each.bytes, each.root),
            *(counts.ago(each.begin, now), counts.ago(each.end, now), names.get(each.site, ""), each.site),
        )

    return Seen(
        *(rank.job, rank.rank, rank.ranks, socket.gethostname(), rank.node, rank.process, ""),
        has_left=rank.has_left,
        inside=[call(thread.current) for thread in rank.threads if thread.current],
        requests=(names.get(waits_at) or f"{waits_at:#x}") if waits_at else "",
        calls=[call(each) for each in last],
        communicators=[
            Comm(each.id, each.name, each.size, each.rank, each.first, each.stride) for each in rank.communicators.values()
        ],
        host=rank.host,
        build=rank.build,
    )


def _begun(rank: Rank) -> int:
    return sum(thread.begun for thread in rank.threads)


def add_stacks(ranks: list[Seen], waits: waiting.Waits, seconds: float) -> None:
    """Of those for which others wait, or of all where no rank waits for another, if they are on this machine."""
    wanted = waits.guilty or waits.circle
    if not wanted and any(seen.has_moved for seen in ranks):
        return
    here = {seen.pid: seen for seen in ranks if seen.machine == socket.gethostname() and seen.is_alive and not seen.has_left}
    asked = [pid for pid, seen in here.items() if not wanted or seen.rank in wanted]
    for pid, (frames, why) in stacks.of(asked, seconds).items():
        here[pid].stack, here[pid].no_stack = frames, why


def candidates(asked: Optional[int]) -> list[int]:
    """The processes of this user, of all for root; or that one with all that it has started."""
    own = os.geteuid()
    pids = processes.with_children(asked) if asked is not None else set(processes.all_pids())
    return sorted(pid for pid in pids if pid != os.getpid() and (own == 0 or processes.owner_of(pid) == own))
