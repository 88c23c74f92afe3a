"""What `espalier who` prints of a job."""

from __future__ import annotations

from typing import Any

from espalier.plain import plain
from espalier.terminal import Column, print_lines, print_table
from espalier.who import verdict, waiting
from espalier.who.look import Jobs
from espalier.who.seen import Seen

_COLUMNS = (
    *(Column("rank", right=True), Column("pid", right=True), Column("state"), Column("where"), Column("communicator")),
    *(Column("call", right=True), Column("bytes", right=True), Column("root", right=True), Column("for", right=True)),
    Column("called at", wraps=True),
)


def text(ranks: list[Seen], waits: waiting.Waits) -> None:
    first = ranks[0]
    machines = sorted({seen.machine for seen in ranks})
    nodes = len({seen.node for seen in ranks})
    head = f"job {first.job}: {len(ranks)} of {first.ranks} ranks on {', '.join(machines)}"
    if nodes > len(machines):
        head += f", {nodes} nodes"
    if first.host:
        head += f" ({first.host.rstrip(', ')}, {first.build} build)"
    print_lines([plain(head), *map(plain, verdict.lines(ranks, waits)), ""])
    print_table(_COLUMNS, [list(map(plain, _row(seen))) for seen in ranks])
    stacks = [seen for seen in ranks if seen.stack or seen.no_stack]
    if stacks:
        print_lines(["", "stacks, innermost first"])
        print_lines([plain(f"  rank {seen.rank}: {' < '.join(seen.stack[:10]) or seen.no_stack}") for seen in stacks])


def _row(seen: Seen) -> list[str]:
    state = seen.state if seen.is_alive else "dead"
    call = seen.inside[0] if seen.inside else None
    if call is None:
        last = seen.last
        where = "left" if seen.has_left else "requests" if seen.requests else "outside"
        since = verdict.span(last.ended) if last and last.ended is not None else ""
        return [str(seen.rank), str(seen.pid), state, where, "", "", "", "", since, _after(seen)]
    comm = seen.comm(call.communicator)
    return [
        *(str(seen.rank), str(seen.pid), state, call.collective, verdict.comm_text(comm)),
        *(_number(call.sequence), _number(call.bytes), _number(call.root)),
        *("" if call.seconds is None else verdict.span(call.seconds), call.place),
    ]


def _after(seen: Seen) -> str:
    if seen.requests:
        return seen.requests
    if not seen.last:
        return ""
    text = verdict.call_text(seen.last, seen.comm(seen.last.communicator), brief=True)
    return f"after {text}" + (f" at {seen.last.place}" if seen.last.place else "")


def _number(value: Any) -> str:
    return "" if value is None else f"#{value}" if value is True else str(value)


def document(jobs: Jobs) -> dict[str, Any]:
    return {"jobs": [_job(identity, ranks) for identity, ranks in jobs.items()]}


def _job(identity: str, ranks: list[Seen]) -> dict[str, Any]:
    waits = waiting.analyse(ranks)
    groups = [
        {
            "communicator": group.call.communicator,
            "collective": group.call.collective,
            "sequence": group.call.sequence,
            "ranks": list(group.ranks),
            "missing": list(group.missing),
            "unknown": group.strangers,
            "seconds": group.seconds,
        }
        for group in waits.groups
    ]
    return {
        "job": identity,
        "ranks": ranks[0].ranks,
        "host": ranks[0].host,
        "build": ranks[0].build,
        "verdict": verdict.lines(ranks, waits),
        "guilty": waits.guilty,
        "circle": waits.circle,
        "groups": groups,
        "seen": [seen.document() for seen in ranks],
    }
