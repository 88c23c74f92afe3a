"""Which rank waits for which: from the calls that they are in, without a guess about programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

from espalier.who import pressure
from espalier.who.seen import Call, Comm, Seen

_DOWNWARDS = ("bcast", "scatter", "scatterv")  # data go from the root to all others
_UPWARDS = ("reduce", "gather", "gatherv")
_SCANS = ("scan", "exscan")


@dataclass(frozen=True)
class Group:
    """Ranks that are in one call of a communicator."""

    call: Call
    comm: Optional[Comm]
    ranks: tuple[int, ...]  # of the job
    missing: tuple[int, ...]  # for which they wait
    strangers: int  # members that have not come, and of which only that is known
    seconds: Optional[float]  # of the one that is longest in it


@dataclass(frozen=True)
class Difference:
    """Ranks that make different calls where all must make the same."""

    comm: Comm
    sequence: int
    calls: tuple[tuple[Call, tuple[int, ...], bool], ...]  # by whom, and whether any is still in it


@dataclass(frozen=True)
class Waits:
    groups: list[Group]
    differences: list[Difference]
    guilty: list[int]  # for which others wait, and which wait for none themselves
    circle: list[int]  # ranks that wait for each other


def analyse(ranks: list[Seen]) -> Waits:
    by_rank = {seen.rank: seen for seen in ranks}
    differences = _differences(ranks)
    groups = _groups(ranks, by_rank)
    edges: dict[int, set[int]] = {}
    for group in groups:
        for rank in group.ranks:
            edges.setdefault(rank, set()).update(set(group.missing) - {rank})
    for rank in list(edges):
        seen = by_rank[rank]
        if _cannot_go_on(seen) or seen.has_moved:
            del edges[rank]  # it waits for no rank: it cannot, or it goes on
    waited_for = {rank for others in edges.values() for rank in others}
    guilty = sorted(rank for rank in waited_for if not edges.get(rank))
    return Waits(groups, differences, guilty, [] if guilty else _circle(edges))


def members_of(identity: Optional[str], ranks: list[Seen]) -> dict[int, Optional[int]]:
    """By rank of the communicator: the rank of the job, as far as that is known."""
    known: dict[int, Optional[int]] = {}
    for seen in ranks:
        comm = seen.comm(identity)
        if comm is None:
            continue
        for rank in range(comm.size):
            known.setdefault(rank, None)
            if known[rank] is None:
                known[rank] = comm.process(rank)
    for seen in ranks:
        if (comm := seen.comm(identity)) is not None:
            known[comm.rank] = seen.rank
    return known


def _groups(ranks: list[Seen], by_rank: dict[int, Seen]) -> list[Group]:
    found: dict[tuple, list[tuple[Seen, Call]]] = {}
    for seen in ranks:
        for call in seen.inside:
            found.setdefault((*call.key, call.collective), []).append((seen, call))
    groups = []
    for inside in found.values():
        by_missing: dict[tuple[tuple[int, ...], int], list[tuple[Seen, Call]]] = {}
        for seen, call in inside:
            by_missing.setdefault(_missing(seen, call, inside, ranks, by_rank), []).append((seen, call))
        for (missing, strangers), those in by_missing.items():
            times = [call.seconds for _, call in those if call.seconds is not None]
            seen, call = those[0]
            groups.append(
                Group(
                    *(call, seen.comm(call.communicator), tuple(sorted(each.rank for each, _ in those))),
                    *(missing, strangers, max(times, default=None)),
                )
            )
    return sorted(groups, key=lambda group: (not group.missing, -len(group.ranks)))


def _missing(
    seen: Seen, call: Call, inside: list[tuple[Seen, Call]], ranks: list[Seen], by_rank: dict[int, Seen]
) -> tuple[tuple[int, ...], int]:
    """The ranks of the job that this one waits for, and how many more of which that is not known."""
    members = members_of(call.communicator, ranks)
    here = {each.rank for each, _ in inside}
    late = {rank: process for rank, process in members.items() if not _has_come(process, call, here, by_rank)}
    if not late:  # all are there: one that cannot go on holds up the others
        came: dict[int, Optional[int]] = {rank: process for rank, process in members.items() if process in here}
        late = _held(came, by_rank, _cannot_go_on) or _held(came, by_rank, pressure.holds_up)
    comm = seen.comm(call.communicator)
    if comm is not None:
        late = _needed(call, comm.rank, late)
    known = tuple(sorted(process for process in late.values() if process is not None and process != seen.rank))
    return known, sum(process is None for process in late.values())


def _held(
    came: dict[int, Optional[int]], by_rank: dict[int, Seen], is_held: Callable[[Seen], bool]
) -> dict[int, Optional[int]]:
    return {rank: each for rank, each in came.items() if each is not None and each in by_rank and is_held(by_rank[each])}


def _cannot_go_on(seen: Seen) -> bool:
    return seen.is_stopped or not seen.is_alive


def _has_come(process: Optional[int], call: Call, here: set[int], by_rank: dict[int, Seen]) -> bool:
    if process in here:
        return True
    seen = by_rank.get(process) if process is not None else None
    if seen is None or call.sequence is None:
        return False
    begun = seen.begun(call.communicator, call.by_host)
    return begun is not None and begun >= call.sequence


def _needed(call: Call, own: int, late: dict[int, Optional[int]]) -> dict[int, Optional[int]]:
    """Of those that have not come, the ones that this rank needs."""
    if call.collective in (*_DOWNWARDS, *_UPWARDS) and own != call.root and call.root in late:
        return {call.root: late[call.root]}
    if call.collective in _SCANS and any(rank < own for rank in late):
        return {rank: process for rank, process in late.items() if rank < own}
    return late


def _differences(ranks: list[Seen]) -> list[Difference]:
    """The first call of each communicator in which its ranks differ."""
    made: dict[tuple[str, int], dict[tuple, list[tuple[Call, int, bool]]]] = {}
    comms: dict[str, Comm] = {}
    for seen in ranks:
        comms.update({comm.id: comm for comm in seen.communicators})
        for call, is_inside in (*((each, False) for each in seen.calls), *((each, True) for each in seen.inside)):
            if call.communicator is None or call.sequence is None or call.by_host:
                continue
            kind = (call.collective, call.bytes, call.root)
            made.setdefault((call.communicator, call.sequence), {}).setdefault(kind, []).append((call, seen.rank, is_inside))
    found: dict[str, Difference] = {}
    for (identity, sequence), kinds in sorted(made.items(), key=lambda item: item[0][1]):
        if len(kinds) > 1 and identity not in found and identity in comms:
            calls = [
                (each[0][0], tuple(sorted(rank for _, rank, _ in each)), any(is_inside for _, _, is_inside in each))
                for each in kinds.values()
            ]
            found[identity] = Difference(comms[identity], sequence, tuple(sorted(calls, key=lambda item: -len(item[1]))))
    return list(found.values())


def _circle(edges: dict[int, set[int]]) -> list[int]:
    """A shortest one; empty: no rank is known to wait for another."""
    best: list[int] = []
    for start in sorted(edges):
        paths, seen = [[start]], {start}
        while paths:
            path = paths.pop(0)
            for rank in sorted(edges.get(path[-1], ())):
                if rank == start and (not best or len(path) < len(best)):
                    best = path
                if rank not in seen:
                    seen.add(rank)
                    paths.append([*path, rank])
    return best
