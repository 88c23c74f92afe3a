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
class _Look:
    """At a rank's process."""

    process: Process
    runs: pressure.Runs


def jobs(pids: Iterable[int], shown: int = SHOWN, wanted: tuple[str, ...] = ("",)) -> Jobs:
    """Of all ranks in the memory that those processes have. `shown`: so many of each rank's last calls; `wanted`: how the names
    of the jobs begin."""
    pids = list(pids)
    first = [rank for rank in memory.ranks_seen_by(pids) if rank.job.startswith(wanted)]
    if not first:
        return {}
    looks = [_look(rank) for rank in first]
    began = clock.now()
    time.sleep(APART)
    second = {(rank.job, rank.rank): rank for rank in memory.ranks_seen_by(pids)}
    now = clock.now()
    later = [second.get((rank.job, rank.rank), rank) for rank in first]
    later_looks = [_look(rank) for rank in later]
    seconds = (now - began) * 1e-9
    counts = clock.clock_of([*first, *second.values()])
    mappings = [places.of_process(each.process.pid) if each.process.is_alive else [] for each in later_looks]
    names = places.names_of(places.Addresses(files, addresses_of(rank, shown)) for rank, files in zip(later, mappings))
    found: Jobs = {}
    for at, rank in enumerate(later):
        seen = seen_of(rank, counts, now, shown, names[at])
        seen.at_ns, seen.boot = now, clock.boot()
        begun = _begun(rank) - _begun(first[at])
        seen.has_moved, seen.calls_per_second = begun != 0, begun / seconds
        _add_process(seen, looks[at], later_looks[at], seconds)
        found.setdefault(rank.job, []).append(seen)
    for ranks in found.values():
        ranks.sort(key=lambda seen: seen.rank)
        pressure.add_causes(ranks, processes.all_pids())
    return found


def _look(rank: Rank) -> _Look:
    return _Look(processes.look(rank.process, rank.started), pressure.runs_of(rank.process))


def _add_process(seen: Seen, before: _Look, look: _Look, seconds: float) -> None:
    """Its state, and its use of the processor and of memory between the looks."""
    process = look.process
    seen.state, seen.waits_in = process.state, process.waits_in
    if not process.is_alive:
        return
    ran = pressure.ran(before.runs, look.runs, seconds)
    seen.processor = (process.seconds - before.process.seconds) / seconds if ran is None else ran
    stays_ready = before.process.state == process.state == "R"
    seen.delayed = pressure.delay(before.runs, look.runs, stays_ready, seconds)
    seen.between, seen.core = seconds, process.core
    seen.faults = max(0, process.faults - before.process.faults)


def addresses_of(rank: Rank, shown: int) -> frozenset[int]:
    """In the program, that seen_of() names."""
    current = [thread.current for thread in rank.threads if thread.current]
    return frozenset([*(call.site for call in (*_last(rank, shown), *current)), _waits_at(rank)])


def _last(rank: Rank, shown: int) -> list[record.Call]:
    main = max(rank.threads, key=lambda thread: thread.begun, default=None)
    return main.last[-shown:] if main else []


def _waits_at(rank: Rank) -> int:
    return next((thread.waits_at for thread in rank.threads if thread.waits_at), 0)


def seen_of(rank: Rank, counts: clock.Clock, now: int, shown: int, names: dict[int, str]) -> Seen:
    """Without what its process says. `shown`: so many of its last calls; `names`: of addresses_of()."""
    waits_at = _waits_at(rank)

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
        calls=[call(each) for each in _last(rank, shown)],
        communicators=[
            Comm(each.id, each.name, each.size, each.rank, each.first, each.stride) for each in rank.communicators.values()
        ],
        host=rank.host,
        build=rank.build,
    )


def _begun(rank: Rank) -> int:
    return sum(thread.begun for thread in rank.threads)


def add_stacks(found: Jobs, seconds: float) -> None:
    """All at once."""
    wanted = {seen.pid: seen for ranks in found.values() for seen in _with_stacks(ranks)}
    for pid, (frames, why) in stacks.of(wanted, seconds).items():
        wanted[pid].stack, wanted[pid].no_stack = frames, why


def _with_stacks(ranks: list[Seen]) -> list[Seen]:
    """Those for which others wait, or all where no rank waits for another, if they are on this machine."""
    waits = waiting.analyse(ranks)
    wanted = waits.guilty or waits.circle
    if not wanted and any(seen.has_moved for seen in ranks):
        return []
    here = [seen for seen in ranks if seen.machine == socket.gethostname() and seen.is_alive and not seen.has_left]
    return [seen for seen in here if not wanted or seen.rank in wanted][: stacks.MOST]


def candidates(asked: Optional[int]) -> list[int]:
    """The processes of this user, of all for root; or that one with all that it has started."""
    own = os.geteuid()
    pids = processes.with_children(asked) if asked is not None else set(processes.all_pids())
    return sorted(pid for pid in pids if pid != os.getpid() and (own == 0 or processes.owner_of(pid) == own))
