"""Runs one MPI job, with a time limit, so that nothing of it is left behind."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

LAST_LINES = 15
# What launchers add when a program ends badly: it says that it did, not why.
_LAUNCHERS_WORDS = re.compile(
    r"^\W*$|^=|^(mpirun|prterun|mpiexec|srun)\b.*\b(detected|noticed|exited)|^the job to be terminated|^Primary job|"
    r"^a non-zero exit code|^\s*(Process name|Exit code):|APPLICATION (PROCESSES|TERMINATED)|^This typically refers|"
    r"^Please see the FAQ",
    re.IGNORECASE,
)


@dataclass
class Outcome:
    command: str  # as a person would type it, with what was added to the environment
    code: Optional[int]  # None: it ran past its limit
    output: str
    seconds: float

    @property
    def fine(self) -> bool:
        return self.code == 0

    def failure(self) -> dict:
        """Empty lines and MPICH's banner of `=` say nothing: the program's own last words do."""
        why = "ran past its time limit" if self.code is None else f"ended with code {self.code}"
        lines = [line for line in self.output.splitlines() if line.strip(" =") and not line.startswith("= ")]
        return {"command": self.command, "why": why, "last_lines": lines[-LAST_LINES:]}


def telling(lines: list[str]) -> str:
    """The last line that is the program's own; empty if there is none."""
    own = [line for line in lines if not _LAUNCHERS_WORDS.search(line)]
    return (own or lines or [""])[-1].strip()


def die_with_jobs() -> None:
    """Lets a SIGTERM end the command as Ctrl-C does, so that the job under way is stopped too."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def wrapped(settings: dict[str, str], preload: Optional[Path], program: list[str]) -> list[str]:
    """The program behind `env`, for a launcher of other nodes, whose own environment does not go there."""
    words = [f"{key}={value}" for key, value in settings.items()]
    words += [f"LD_PRELOAD={preload}"] if preload else []
    return ["env", *words, *program] if words else program


def in_words(command: list[str], settings: dict[str, str]) -> str:
    return shlex.join([f"{key}={value}" for key, value in settings.items()] + command)


def run(command: list[str], settings: dict[str, str], limit: float) -> Outcome:
    begin = time.monotonic()
    with subprocess.Popen(
        command,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as job:
        try:
            output, _ = job.communicate(timeout=limit)
            code = job.returncode
        except subprocess.TimeoutExpired:
            output, code = _stop(job), None
        except BaseException:
            _stop(job)
            raise
    return Outcome(in_words(command, settings), code, output, time.monotonic() - begin)


def _stop(job: subprocess.Popen) -> str:
    """The launcher gets a moment to end its ranks."""
    job.send_signal(signal.SIGTERM)
    try:
        return job.communicate(timeout=5)[0]
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        return job.communicate()[0]
