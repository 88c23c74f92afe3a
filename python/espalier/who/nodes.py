"""Which nodes a job has, and by what its launcher starts commands there: from what its processes were started with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.launch import command_line
from espalier.launch.launchers import HYDRA, OPEN_MPI, SLURM, Family
from espalier.who import processes

_LISTS = frozenset("host hosts H nodelist w".split())
_FILES = frozenset("hostfile machinefile machine f default-hostfile".split())
_AGENTS = frozenset("launcher-exec bootstrap-exec".split())
_AGENTS_OF_OPEN_MPI = ("plm_ssh_agent", "plm_rsh_agent")
_OF_BATCH = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE")  # files; the first word of a line is a node
_SSH_VALUES = "BbcDEeFIiJLlmOopQRSWw"  # options of ssh behind which a word belongs to them
_MOST = 1 << 20


@dataclass(frozen=True)
class Nodes:
    names: tuple[str, ...] = ()  # each once
    way: str = "ssh"  # as `--launcher` takes it


def of_job(pids: Iterable[int]) -> Nodes:
    """`pids`: its ranks on this machine. No names: nothing tells."""
    family = _with_ancestors(pids)
    from_launcher = [_of_command_line(pid) for pid in family]
    way = next((found.way for found in from_launcher if found and found.way), "")
    for found in (*map(_of_environment, family), *from_launcher, _of_ssh(family)):
        if found and found.names:
            return Nodes(found.names, found.way or way or "ssh")
    return Nodes((), way or "ssh")


def _with_ancestors(pids: Iterable[int]) -> list[int]:
    """One rank, and all that has led to it: ranks of a node have the same. Only this user's, also for root: what they were
    started with names files to read, and a command to run."""
    found: list[int] = []
    pid = next((each for each in pids if processes.look(each).is_alive), 0)
    while pid > 1 and pid not in found and processes.owner_of(pid) == os.geteuid():
        found.append(pid)
        pid = processes.look(pid).parent
    return found


def _of_environment(pid: int) -> Optional[Nodes]:
    """What a batch system has told it."""
    variables = dict(each.split("=", 1) for each in _strings(pid, "environ") if "=" in each)
    listed = variables.get("SLURM_STEP_NODELIST") or variables.get("SLURM_JOB_NODELIST")
    if listed:
        job = variables.get("SLURM_JOB_ID", "")
        return Nodes(_once(expanded(listed)), f"srun --jobid={job}" if job.isdigit() else "srun")
    for name in _OF_BATCH:
        if variables.get(name):
            return Nodes(_once(_lines(pid, variables[name])), "")
    return None


def _of_command_line(pid: int) -> Optional[Nodes]:
    """Of a launcher: the nodes that its options name, and what it was told to start commands with."""
    words = _strings(pid, "cmdline")
    family = _family(pid)
    if family is None or not words:
        return None
    names: list[str] = []
    way = ""
    for option in command_line.options_of(words, family):
        if option.name in _LISTS:
            names += expanded(option.value)
        elif option.name in _FILES:
            names += _lines(pid, option.value)
        elif option.name in _AGENTS:
            way = option.value
        elif option.value in _AGENTS_OF_OPEN_MPI:
            way = words[option.word]
    return Nodes(_once(names), way)


def _family(pid: int) -> Optional[Family]:
    name = _executable(pid).name
    if name.startswith(("prterun", "orterun")):
        return OPEN_MPI
    # Open MPI's own name is one of those whichever name it was started by, and scripts run in a shell.
    return HYDRA if name.startswith(("mpiexec", "mpirun")) else SLURM if name == "srun" else None


def _of_ssh(pids: Iterable[int]) -> Optional[Nodes]:
    """Where a launcher among them has begun ssh."""
    launchers = {pid for pid in pids if _family(pid)}
    children = [pid for pid in processes.all_pids() if launchers and processes.look(pid).parent in launchers]
    hosts = [host for pid in children if (host := _asked_by_ssh(_strings(pid, "cmdline")))]
    return Nodes(_once(hosts), "") if hosts else None


def _asked_by_ssh(words: list[str]) -> str:
    if not words or Path(words[0]).name not in ("ssh", "rsh"):
        return ""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at][-1] in _SSH_VALUES and len(words[at]) == 2 else 1
    return words[at].rpartition("@")[2] if at < len(words) else ""


def expanded(text: str) -> list[str]:
    """Slurm's "n[01-03,7],gpu1" and mpirun's "n1:2,n2": the names alone."""
    return [name for part in _parts(text) for name in _of_part(part) if name]


def _parts(text: str) -> Iterator[str]:
    yield from re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text)


def _of_part(part: str) -> list[str]:
    match = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)
    if not match:
        return [re.sub(r":\d+$", "", part.strip())]
    return [f"{match[1]}{number}{rest}" for number in _numbers(match[2]) for rest in (_of_part(match[3]) if match[3] else [""])]


def _numbers(text: str) -> Iterator[str]:
    for piece in text.split(","):
        first, dash, last = piece.partition("-")
        if not dash:
            yield first
        elif first.isdigit() and last.isdigit() and int(last) - int(first) < 1 << 16:
            yield from (f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _lines(pid: int, path: str) -> list[str]:
    """As that process sees the file."""
    folder = Path(f"/proc/{pid}/root") if path.startswith("/") else Path(f"/proc/{pid}/cwd")
    try:
        if not (folder / path.lstrip("/")).is_file():
            return []
        with open(folder / path.lstrip("/"), encoding="utf-8", errors="replace") as file:
            lines = file.read(_MOST).splitlines()
    except OSError:
        return []
    return [re.sub(r":\d+$", "", line.split()[0]) for line in lines if line.split() and not line.startswith("#")]


def _strings(pid: int, file: str) -> list[str]:
    try:
        with open(f"/proc/{pid}/{file}", "rb") as stream:
            return [each.decode("utf-8", "replace") for each in stream.read(_MOST).split(b"\0")[:-1]]
    except OSError:
        return []


def _executable(pid: int) -> Path:
    try:
        return Path(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return Path()
