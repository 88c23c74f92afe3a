"""From what was asked for to the jobs: of this machine, and of others."""

from __future__ import annotations

import os
import socket
from typing import Optional

from espalier.problem import Problem, note
from espalier.who import dumped, elsewhere, look, memory, nodes, processes
from espalier.who.look import Jobs

AUTO = "auto"


def jobs(asked: Optional[str], hosts: Optional[str], launcher: Optional[str] = None) -> Jobs:
    """What was asked for. `hosts`: other machines; None with a `launcher`: those that the jobs have. Raises Problem where
    there is no such job."""
    names = elsewhere.hosts_of((hosts or "").split(","))
    if asked is not None and dumped.is_there(asked):
        return dumped.jobs(asked)
    pid = int(asked) if asked is not None and asked.isdigit() and len(asked) < 16 else None  # a job's name has 16 digits
    if pid is not None:
        _check(pid)
    others = elsewhere.ask(None if launcher == AUTO else launcher, names)  # they start while this one looks
    wanted = _wanted(asked, pid)
    if not names:
        others = _of_the_job(wanted, launcher)
    found = look.jobs(look.candidates(None), wanted=wanted) if wanted else {}
    for more in elsewhere.answers(others):
        _merge(found, _chosen(more, wanted))
    if not found:
        raise Problem(_nothing(asked, pid), 1)
    if not names and launcher is None:
        _say_where_others_are(found)
    return found


def _say_where_others_are(found: Jobs) -> None:
    for identity, ranks in found.items():
        away = ranks[0].ranks - len(ranks)
        if away and (there := _others(nodes.of_job([seen.pid for seen in ranks]))):
            few = ", ".join(there[:4]) + (", ..." if len(there) > 4 else "")
            where = f"ranks are on other nodes ({few})" if away > 1 else f"rank is on another node ({few})"
            note(f"{away} {where}, which `espalier who {identity} --launcher auto` asks")


def _others(there: nodes.Nodes) -> list[str]:
    """Without this one."""
    own = socket.gethostname().split(".")[0]
    return [name for name in there.names if name.split(".")[0] != own]


def _wanted(asked: Optional[str], pid: Optional[int]) -> tuple[str, ...]:
    """How the jobs' names begin."""
    if pid is not None:
        return tuple({rank.job for rank in memory.ranks_seen_by(look.candidates(pid))})
    return (asked.lower(),) if asked else ("",)


def _chosen(found: Jobs, wanted: tuple[str, ...]) -> Jobs:
    return {identity: ranks for identity, ranks in found.items() if identity.startswith(wanted)}


def _of_the_job(wanted: tuple[str, ...], launcher: Optional[str]) -> list[elsewhere.Asked]:
    """The nodes of the one job that is meant, but for this one. Raises Problem where nothing tells them."""
    if launcher is None:
        return []
    ranks = [rank for rank in memory.ranks_seen_by(look.candidates(None)) if rank.job.startswith(wanted)] if wanted else []
    if not ranks or len({rank.job for rank in ranks}) > 1:
        raise Problem("--launcher takes one job of which a rank runs here; name it, or the nodes with --hosts")
    there = nodes.of_job([rank.process for rank in ranks])
    if not there.names:
        raise Problem("neither the job's launcher nor a batch system tells its nodes here; name them with --hosts")
    return elsewhere.ask(there.way if launcher == AUTO else launcher, elsewhere.hosts_of(_others(there)))


def _check(pid: int) -> None:
    owner = processes.owner_of(pid)
    if owner is None:
        raise Problem(f"there is no process {pid}")
    if os.geteuid() not in (0, owner):
        raise Problem(f"process {pid} is another user's")


def _nothing(asked: Optional[str], pid: Optional[int]) -> str:
    if pid is None:
        return f"there is no job {asked} here" if asked else "no job of this user runs here with Espalier (`espalier run`)"
    family = [each for each in processes.with_children(pid) if memory.has_library(each)]
    if family:
        return f"process {family[0]} has Espalier, but has not come through MPI_Init yet, or is through with MPI_Finalize"
    return f"process {pid} is no rank of a job that runs with Espalier, and has started none"


def _merge(found: Jobs, more: Jobs) -> None:
    for identity, ranks in more.items():
        here = found.setdefault(identity, [])
        known = {seen.rank for seen in here}
        here.extend(seen for seen in ranks if seen.rank not in known)
        here.sort(key=lambda seen: seen.rank)
