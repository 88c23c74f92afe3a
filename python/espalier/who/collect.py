"""From what was asked for to the jobs: of this machine, and of others by ssh."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from typing import Optional

from espalier.problem import Problem, note
from espalier.who import dumped, look, memory, processes, waiting
from espalier.who.look import Jobs
from espalier.who.seen import from_document

_SECONDS = 20
_HOST = re.compile(r"[A-Za-z0-9@._:\[\]-]+")


def jobs(asked: Optional[str], hosts: Optional[str]) -> Jobs:
    """What was asked for. Raises Problem where there is no such job."""
    others = _hosts(hosts)
    if asked is not None and dumped.is_there(asked):
        return dumped.jobs(asked)
    pid = int(asked) if asked is not None and asked.isdigit() and len(asked) < 16 else None  # a job's name has 16 digits
    if pid is not None:
        _check(pid)
        wanted = tuple({rank.job for rank in memory.ranks_seen_by(look.candidates(pid))})
    else:
        wanted = (asked.lower(),) if asked else ("",)
    found = look.jobs(look.candidates(None)) if wanted else {}
    for host in others:
        _merge(found, _seen_on(host))
    found = {identity: ranks for identity, ranks in found.items() if identity.startswith(wanted)}
    if not found:
        raise Problem(_nothing(asked, pid), 1)
    return found


def add_stacks(found: Jobs, seconds: float) -> None:
    for ranks in found.values():
        look.add_stacks(ranks, waiting.analyse(ranks), seconds)


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


def _hosts(text: Optional[str]) -> list[str]:
    names = [name for name in (text or "").split(",") if name]
    for name in names:
        if not _HOST.fullmatch(name) or name.startswith("-"):
            raise Problem(f"--hosts: '{name}' is no name of a machine")
    return names


def _seen_on(host: str) -> Jobs:
    """By the same command there."""
    remote = [*shlex.split(os.environ.get("ESPALIER_SSH", "ssh -o BatchMode=yes")), host]
    words = [*remote, f"{os.environ.get('ESPALIER_REMOTE', 'espalier')} who --json --no-stacks"]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        note(f"{host} cannot be asked ({error})")
        return {}
    try:
        document = json.loads(done.stdout)
        return {job["job"]: [from_document(item) for item in job["seen"]] for job in document["jobs"]}
    except (ValueError, KeyError, TypeError):
        lines = done.stderr.strip().splitlines()
        note(f"{host} sees no job ({lines[-1] if lines else f'exit code {done.returncode}'})")
        return {}


def _merge(found: Jobs, more: Jobs) -> None:
    for identity, ranks in more.items():
        here = found.setdefault(identity, [])
        known = {seen.rank for seen in here}
        here.extend(seen for seen in ranks if seen.rank not in known)
        here.sort(key=lambda seen: seen.rank)
