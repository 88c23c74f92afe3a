"""`espalier run -n N PROGRAM`: N ranks on this machine without MPI, for programs of libespalier-gaspi.so."""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Optional

from espalier.problem import Problem

MOST = 4096
_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
_LOOK = 0.02  # seconds between two looks at the ranks


def environment_of(rank: int, ranks: int, job: str, environment: dict[str, str]) -> dict[str, str]:
    """What src/capi/gaspi/start/world.cpp reads."""
    return {
        **environment,
        "ESPALIER_RUN_JOB": job,
        "ESPALIER_RUN_RANK": str(rank),
        "ESPALIER_RUN_RANKS": str(ranks),
    }


def start(words: Sequence[str], ranks: int, environment: dict[str, str]) -> int:
    """Runs them to their end and returns 0, or the status of the first that failed, which ends the others."""
    if not 1 <= ranks <= MOST:
        raise Problem(f"-n {ranks}: it is 1 to {MOST}")
    job = f"run-{secrets.token_hex(8)}"  # two jobs of one user never meet
    running: list[subprocess.Popen[bytes]] = []
    signal.signal(signal.SIGTERM, _end)  # so that the ranks end, too
    try:
        for rank in range(ranks):
            running.append(_one(words, environment_of(rank, ranks, job, environment)))
        return _status(running)
    finally:
        _stop(running)


def _end(number: int, _frame: Optional[FrameType]) -> None:
    raise SystemExit(128 + number)


def _die_with(parent: int) -> Callable[[], None]:
    """For a new rank: the kernel kills it when this command dies, even by SIGKILL."""
    prctl = ctypes.CDLL(None).prctl  # looked up before the fork, after which little is safe

    def in_the_rank() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)

    return in_the_rank


def _one(words: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(words, env=environment, preexec_fn=_die_with(os.getpid()))
    except FileNotFoundError as error:
        raise Problem(f"there is no program '{words[0]}'", 127) from error
    except OSError as error:
        raise Problem(f"'{words[0]}' cannot be started ({error.strerror})", 126) from error


def _status(running: list[subprocess.Popen[bytes]]) -> int:
    while True:
        states = [process.poll() for process in running]
        for state in states:
            if state:
                return state if state > 0 else 128 - state  # a signal's number, as shells say it
        if all(state == 0 for state in states):
            return 0
        time.sleep(_LOOK)


def _stop(running: list[subprocess.Popen[bytes]]) -> None:
    left = [process for process in running if process.poll() is None]
    for process in left:
        process.send_signal(signal.SIGTERM)
    end = time.monotonic() + 2
    for process in left:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
