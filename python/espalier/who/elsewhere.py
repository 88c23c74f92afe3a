"""What other machines see: the same command there, by ssh or by what starts a job's ranks, on all of them at once."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.problem import Problem, note
from espalier.who.look import Jobs
from espalier.who.seen import from_document

_SECONDS = 20
_QUESTION = ("who", "--json", "--no-stacks")
_HOST = re.compile(r"[A-Za-z0-9@._:\[\]-]+")
_PLACE = "{host}"
_MPIRUN = re.compile(r"^(mpirun|mpiexec|orterun|prterun|prun)([.-].+)?$")
_NOTHING_THERE = 1  # exit code of `espalier who` that finds no job


def hosts_of(names: Iterable[str]) -> list[str]:
    """Raises Problem where one is no name: it becomes a word of a command."""
    found = [name for name in names if name]
    for name in found:
        if not _HOST.fullmatch(name) or name.startswith("-"):
            raise Problem(f"--hosts: '{name}' is no name of a machine")
    return found


def words_for(launcher: Optional[str], host: str) -> list[str]:
    """The command that starts `espalier who` there. `launcher`: what the user named; None: ssh."""
    ssh = os.environ.get("ESPALIER_SSH", "ssh -o BatchMode=yes")
    given = _split("ESPALIER_SSH", ssh) if launcher is None else _split("--launcher", launcher)
    there = os.environ.get("ESPALIER_REMOTE", "espalier")
    remote = [*_split("ESPALIER_REMOTE", there), *_QUESTION]
    if any(_PLACE in word for word in given):
        return [*(word.replace(_PLACE, host) for word in given), *remote]
    name = Path(given[0]).name
    if name == "srun":  # beside the job's own step
        return [*given, "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={host}", *remote]
    if _MPIRUN.match(name):
        return [*given, "-n", "1", "--host", host, *remote]
    if name == launcher == "ssh":
        given += ["-o", "BatchMode=yes"]
    return [*given, host, " ".join([there, *_QUESTION])]  # as it is: the shell there may find a variable in it


def _split(name: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Problem(f"{name}: '{text}' cannot be read ({error})") from error
    if not words:
        raise Problem(f"{name} names no command")
    return words


@dataclass
class Asked:
    host: str
    process: Optional[subprocess.Popen[str]]
    why: str = ""  # there is none


def ask(launcher: Optional[str], hosts: Iterable[str]) -> list[Asked]:
    """All are under way when it returns."""
    return [_begun(host, words_for(launcher, host)) for host in hosts]


def _begun(host: str, words: list[str]) -> Asked:
    none, pipe = subprocess.DEVNULL, subprocess.PIPE
    try:
        return Asked(host, subprocess.Popen(words, stdin=none, stdout=pipe, stderr=pipe, text=True, errors="replace"))
    except OSError as error:
        return Asked(host, None, f"{words[0]}: {error.strerror}")


def answers(asked: Iterable[Asked]) -> list[Jobs]:
    """What came; of the others it is said why not."""
    ends = time.monotonic() + _SECONDS
    return [jobs for each in asked if (jobs := _answer(each, ends)) is not None]


def _answer(asked: Asked, ends: float) -> Optional[Jobs]:
    if asked.process is None:
        note(f"{asked.host} cannot be asked ({asked.why})")
        return None
    try:
        out, err = asked.process.communicate(timeout=max(0.05, ends - time.monotonic()))
    except subprocess.TimeoutExpired:
        asked.process.kill()
        note(f"{asked.host} cannot be asked (no answer within {_SECONDS} s)")
        return None
    try:
        return _jobs_in(out)
    except (ValueError, KeyError, TypeError):
        _say_why(asked, err)
        return None


def _jobs_in(text: str) -> Jobs:
    """A launcher may have written something in front."""
    document = json.loads(text[text.index("{") :])
    return {job["job"]: [from_document(item) for item in job["seen"]] for job in document["jobs"]}


def _say_why(asked: Asked, err: str) -> None:
    assert asked.process is not None
    code, lines = asked.process.returncode, err.strip().splitlines()
    said = [line for line in lines if line.startswith("espalier:")] or lines
    why = said[-1] if said else f"exit code {code}"
    if code == _NOTHING_THERE and "no job" in why:
        note(f"{asked.host} sees no job ({why})")
    else:
        note(f"{asked.host} cannot be asked ({why})")
