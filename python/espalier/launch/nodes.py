"""Whether a job may use other nodes than this one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from espalier.launch.command_line import CommandLine
from espalier.launch.launchers import FLUX, SLURM

_LISTS = frozenset("host hosts H add-host localhost".split())
_FILES = frozenset("hostfile machinefile machine f default-hostfile add-hostfile".split())


def several(line: CommandLine, environment: Mapping[str, str]) -> bool:
    if line.launcher is None:
        return False
    if line.family is FLUX:
        return True  # an instance may have any number of them
    if line.family is SLURM:
        inside = environment.get("SLURMD_NODENAME") or environment.get("SLURM_JOB_ID")
        return not (inside and environment.get("SLURM_JOB_NUM_NODES", "2") == "1")
    named = [host for option in line.options for host in _hosts(option.name, option.value)]
    return _elsewhere(named) or _allocated(environment)


def _hosts(option: str, value: str) -> list[str]:
    if option in _LISTS:
        return value.split(",")
    return _lines(value) if option in _FILES else []


def _lines(file: str) -> list[str]:
    try:
        text = Path(file).read_text()
    except OSError:
        return []
    return [line.split()[0] for line in text.splitlines() if line.split() and not line.startswith("#")]


def _elsewhere(hosts: Iterable[str]) -> bool:
    own = os.uname().nodename
    here = {"", "localhost", "127.0.0.1", "::1", own, own.split(".")[0]}
    return any(re.sub(r":\d+$", "", host.strip()) not in here for host in hosts)


def _allocated(environment: Mapping[str, str]) -> bool:
    """What a batch system gives to mpirun."""
    slurm = environment.get("SLURM_JOB_NUM_NODES", environment.get("SLURM_NNODES", "1"))
    pbs = _lines(environment["PBS_NODEFILE"]) if environment.get("PBS_NODEFILE") else []
    lsf = environment.get("LSB_MCPU_HOSTS", "").split()[::2]
    return slurm != "1" or len(set(pbs)) > 1 or len(set(lsf)) > 1
