"""Shortages: what a case lacks, how it is made, and which ends a program may have then.

descriptors:N and memory:N are set by each rank itself (tests/mpi/src/soak/shortage.h). shm:N is a /dev/shm of so many MiB, from
which Espalier takes its memory, too; quota:N so many cores.
"""

from __future__ import annotations

import functools
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from espalier.bench import quota

AMOUNTS = {"descriptors": ("0", "2", "8"), "memory": ("12", "40", "160"), "shm": ("64", "128"), "quota": ("0.5", "1")}
_MOUNTS = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
_LOOK = """
"$@"; code=$?
ls -A /dev/shm | sed -n 's/^espalier-/left behind: &/p' >&2
exit $code
"""
LEFT = re.compile(r"^left behind: (.*)$", re.M)
# Ends of ranks by a fault of theirs; launchers end the others by signals 9 and 15.
_CRASHED = re.compile(r"signal:? ?(?:4|6|7|8|11)\b|Segmentation fault|Bus error", re.I)
# Of the soak program (tests/mpi/src/soak/crash.h), and of MPICH and Intel MPI.
_CRASHED_IN = re.compile(r"^crashed in (.*)$", re.M)
_ASSERTED = re.compile(r"^Assertion failed in file ", re.M)
_REPORTING = " as it reports an error"
_NOT_OF_HOST = ("libespalier", "soak", "an unknown place")
# Espalier, the program, or the host: to that Espalier leaves less than it would have alone.
_SAYS_WHY = re.compile(r"^(?:espalier|soak): |Out of memory|Fatal error in |An error occurred in MPI_", re.M)


def some(dice: random.Random) -> str:
    kind = dice.choice(list(AMOUNTS))
    return f"{kind}:{dice.choice(AMOUNTS[kind])}"


def _is_of_each_rank(shortage: str) -> bool:
    """Each rank sets it itself; the libraries in it lack what they ask for, and may end the job."""
    return shortage.startswith(("descriptors", "memory"))


def settings(shortage: str) -> dict[str, str]:
    """Of the ranks."""
    if shortage.startswith("shm"):
        return {"ESPALIER_MEMFD": "off"}
    return {"SOAK_SHORTAGE": shortage} if _is_of_each_rank(shortage) else {}


@functools.cache
def _mounts_in_a_namespace() -> bool:
    tried = subprocess.run([*_MOUNTS, "mount -t tmpfs -o size=64m tmpfs /dev/shm"], capture_output=True)
    return tried.returncode == 0


@functools.cache
def _say_once(text: str) -> None:
    print(f"soak: {text}", file=sys.stderr, flush=True)


@contextmanager
def around(shortage: str) -> Iterator[list[str]]:
    """What is put before the launcher."""
    kind, _, number = shortage.partition(":")
    if kind == "quota":
        with quota.quota(float(number)) as made:
            if not made.made:
                _say_once(f"no CPU quota can be set here: {made.why}")
            yield made.wrapped([]) if made.made else []
        return
    wrap = []
    if kind == "shm" and _mounts_in_a_namespace():
        wrap = [*_MOUNTS, f"mount -t tmpfs -o size={number}m tmpfs /dev/shm || exit 125\n{_LOOK}", "sh"]
    elif kind == "shm":
        _say_once("/dev/shm cannot be replaced here")
    yield wrap


def is_an_answer(shortage: str, said: str) -> bool:
    """A program may end where it gets no memory or descriptor, if it says why, or the host crashes as it does."""
    if _CRASHED.search(said):
        places = _CRASHED_IN.findall(said)
        return crashed_in_host(shortage, said) and bool(places) and all(at.endswith(_REPORTING) for at in places)
    return _is_of_each_rank(shortage) and bool(_SAYS_WHY.search(said))


def crashed_in_host(shortage: str, said: str) -> bool:
    """Ranks crashed or gave up in the host's libraries, and in no other code."""
    files = _CRASHED_IN.findall(said)
    is_of_host = not any(file.startswith(_NOT_OF_HOST) for file in files) and bool(files or _ASSERTED.search(said))
    return _is_of_each_rank(shortage) and is_of_host


def smaller(shortage: str) -> list[str]:
    """Half as much, and so on: a host has less beside Espalier than it has alone."""
    kind, _, number = shortage.partition(":")
    halves = [int(number) >> shift for shift in range(1, int(number).bit_length())]
    return [f"{kind}:{half}" for half in halves]
