"""What is said of a job: who waits, where, and for whom; and what that one does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional

from espalier.who import pressure
from espalier.who.processes import UNKNOWN, WORDS
from espalier.who.seen import Call, Comm, Seen
from espalier.who.waiting import Difference, Group, Waits

# Of the host's functions those in which a rank waits for others.
_MPI = re.compile(r"^P?(MPI_\w+)")


_PLURALS = (
    *(("is ", "are "), ("was ", "were "), ("has ", "have "), ("computes ", "compute "), ("sleeps ", "sleep ")),
    *(("runs ", "run "), ("waits ", "wait "), ("reads ", "read ")),
)


def lines(ranks: list[Seen], waits: Waits) -> list[str]:
    """The first one says it all; the rest are others that wait, too."""
    by_rank = {seen.rank: seen for seen in ranks}
    said = [_difference(each) for each in waits.differences]
    dead = [seen for seen in ranks if not seen.is_alive and not seen.has_left]
    waiting = [group for group in waits.groups if _waits(group, by_rank)]
    for group in sorted(waiting, key=lambda group: not set(group.missing) & set(waits.guilty)):
        said.append(_group(group, by_rank))
    named = {rank for group in waiting for rank in group.missing}
    for seen in dead:
        if seen.rank not in named:
            said.insert(0, f"{_rank(seen.rank)} died: its process {seen.pid} is {'gone' if not seen.state else 'a zombie'}")
    if waits.circle:
        said.insert(0, _circle(waits.circle, by_rank))
    if not said:
        said = _no_rank_waits(ranks)
    return said


def _waits(group: Group, by_rank: dict[int, Seen]) -> bool:
    return bool(group.missing or group.strangers) and any(not by_rank[rank].has_moved for rank in group.ranks)


def _group(group: Group, by_rank: dict[int, Seen]) -> str:
    verb = "waits" if len(group.ranks) == 1 else "wait"
    whom = some(group.missing) if group.missing else ""
    if group.strangers:
        more = f"{group.strangers} rank{'s' if group.strangers > 1 else ''} that have not used this communicator yet"
        whom = f"{whom} and {more}" if whom else more
    text = f"{some(group.ranks)} {verb} in {call_text(group.call, group.comm)}{_since(group.seconds)} for {whom}"
    what = _what_each_does(group.missing, by_rank)
    joint = "" if what.startswith("rank") else ", which "
    return f"{text}{joint or ': '}{what}" if what else text


def _what_each_does(missing: Iterable[int], by_rank: dict[int, Seen]) -> str:
    kinds: dict[str, list[int]] = {}
    for rank in missing:
        seen = by_rank.get(rank)
        kinds.setdefault(does(seen) if seen else "is not seen from here", []).append(rank)
    if len(kinds) == 1:
        what, ranks = next(iter(kinds.items()))
        return what if len(ranks) == 1 else plural(what)
    return "; ".join(_does_of(what, ranks) for what, ranks in kinds.items()) if kinds else ""


def does(seen: Seen, with_cause: bool = True) -> str:
    """What a rank does, behind its name. `with_cause`: and what holds it up from outside."""
    if not seen.is_alive:
        return "has finalized and ended" if seen.has_left else f"died (process {seen.pid} {WORDS[seen.state]})"
    where = _where(seen)
    if seen.is_stopped:
        return f"{WORDS[seen.state]}; it {where}" if where else WORDS[seen.state]
    if seen.has_left:
        return "has called MPI_Finalize, and makes no more calls"
    cause = pressure.cause(seen) if with_cause and not _waits_for_others(seen) else ""
    if cause:
        return f"{cause}; it {where}" if where else cause
    return where or "is outside MPI"


def _waits_for_others(seen: Seen) -> bool:
    """In a function of the host's: what it lacks is a message."""
    return not seen.inside and (bool(seen.requests) or host_call(seen) is not None)


def _where(seen: Seen) -> str:
    if seen.inside:
        call = seen.inside[0]
        return f"is in {call_text(call, seen.comm(call.communicator))}{_since(call.seconds)}{_at(call.place)}"
    found = host_call(seen)
    if found:
        caller = seen.requests or ("" if found[1].startswith("??") else found[1])
        return f"waits in {found[0]} of the host MPI{_at(caller)}"
    if seen.requests:
        return f"is in a call that may wait for requests (MPI_Wait and the like){_at(seen.requests)}"
    return _outside(seen)


def host_call(seen: Seen) -> Optional[tuple[str, str]]:
    """The outermost function of MPI on its stack, and the frame that called it."""
    for at in range(len(seen.stack) - 1, -1, -1):
        match = _MPI.match(seen.stack[at])
        if match:
            return match[1], seen.stack[at + 1] if at + 1 < len(seen.stack) else ""
    return None


def _outside(seen: Seen) -> str:
    last = seen.last
    since = _since(last.ended) if last else ""
    how = {"D": WORDS["D"] + " outside MPI"}.get(seen.state, "")
    if seen.state == UNKNOWN:
        how = "was outside Espalier's calls"
    if not how:
        is_busy = seen.state == "R" or (seen.processor or 0) > 0.2
        has_names = bool(seen.stack) and not any(frame.startswith("??") for frame in seen.stack)
        if has_names:  # one without may be the host's
            how = f"{'computes' if is_busy else 'sleeps'} outside MPI"
        else:
            how = f"{'runs' if is_busy else 'sleeps'} outside Espalier's calls"
    text = f"{how}{since}"
    frames = [frame for frame in seen.stack if not frame.startswith(("??", "__", "_start"))]
    if frames:
        text += f" in {' < '.join(frames[:3])}"
    if last:
        comm = seen.comm(last.communicator)
        text += f"; its last call was {call_text(last, comm, brief=True)}{_at(last.place)}"
    return text


def _at(place: str) -> str:
    return f" (called at {place})" if place else ""


def _difference(difference: Difference) -> str:
    calls = difference.calls
    kinds = {call.collective for call, _, _ in calls}
    parts = []
    for call, ranks, is_inside in calls:
        verb = ("is" if is_inside else "was") if len(ranks) == 1 else "are" if is_inside else "were"
        text = call_text(call, difference.comm, brief=True) if len(kinds) > 1 else call_text(call, difference.comm)
        parts.append(f"{some(ranks)} {verb} in {text}{_at(call.place)}")
    what = "they call different collectives" if len(kinds) > 1 else "they call it with different lengths or roots"
    last = f" and {parts[-1]}"
    return f"{', '.join(parts[:-1])}{last}: {what}"


def _circle(circle: list[int], by_rank: dict[int, Seen]) -> str:
    parts = [f"rank {rank} {does(by_rank[rank], with_cause=False)}" for rank in circle]
    return f"{some(circle)} wait for each other: {', '.join(parts)}"


def _no_rank_waits(ranks: list[Seen]) -> list[str]:
    moving = [seen for seen in ranks if seen.has_moved]
    if moving:
        rate = max(seen.calls_per_second for seen in moving)
        still = [seen for seen in ranks if not seen.has_moved and not seen.has_left]
        text = f"the job goes on: up to {rate:,.0f} calls per second of a rank"
        held = [(seen.rank, pressure.cause(seen)) for seen in ranks if pressure.holds_up(seen)]
        text += "".join(f"; rank {rank} {cause}" for rank, cause in held[:8])
        return [text] + [f"rank {seen.rank} {does(seen)}" for seen in still[:8]]
    inside = [seen for seen in ranks if seen.inside]
    if inside:
        return [_does_of(what, group) for what, group in _by_does(inside)]
    said = [_does_of(what, group) for what, group in _by_does(ranks)]
    return [f"no rank is in a collective: {'; '.join(said)}"] if said else ["no rank is seen"]


def plural(what: str) -> str:
    """What a rank does, of several."""
    for one, many in _PLURALS:
        if what.startswith(one):
            return many + what.removeprefix(one).replace("its last call was", "the last call was")
    return what


def _does_of(what: str, ranks: list[int]) -> str:
    return f"{some(ranks)} {what if len(ranks) == 1 else plural(what)}"


def _by_does(ranks: list[Seen]) -> list[tuple[str, list[int]]]:
    kinds: dict[str, list[int]] = {}
    for seen in ranks:
        kinds.setdefault(does(seen), []).append(seen.rank)
    return list(kinds.items())


def call_text(call: Call, comm: Optional[Comm], brief: bool = False) -> str:
    """allreduce #12 of MPI_COMM_WORLD (8 bytes)."""
    text = call.collective
    if call.sequence is not None and not call.by_host:
        text += f" #{call.sequence}"
    if brief:
        return text
    text += f" of {comm_text(comm)}"
    facts = []
    if call.bytes is not None and call.collective != "barrier":
        facts.append(f"{call.bytes} byte{'' if call.bytes == 1 else 's'}")
    if call.root is not None:
        facts.append(f"root {call.root}")
    if call.by_host:
        facts.append("served by the host")
    elif call.sequence is None:
        facts.append("the ranks still meet")
    return f"{text} ({', '.join(facts)})" if facts else text


def comm_text(comm: Optional[Comm]) -> str:
    if comm is None:
        return "a communicator that is not known"
    return comm.name or f"a communicator of {comm.size} ranks"


def _rank(rank: int) -> str:
    return f"rank {rank}"


def _since(seconds: Optional[float]) -> str:
    return "" if seconds is None else f" since {span(seconds)}"


def span(seconds: float) -> str:
    if seconds >= 90:
        return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
    return f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds * 1e3:.0f} ms"


def some(ranks: Iterable[int]) -> str:
    """"rank 3", "ranks 0-2, 5"."""
    numbers = sorted(set(ranks))
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    text = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return f"rank{'' if len(numbers) == 1 else 's'} {text}"
