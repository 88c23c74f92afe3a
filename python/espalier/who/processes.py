"""What /proc says of a process, also of one that is stopped or no more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Optional

_TICK = os.sysconf("SC_CLK_TCK")

UNKNOWN = "?"  # of a file that the rank wrote
WORDS = {
    "R": "runs",
    "S": "sleeps",
    "D": "waits for the kernel (disk, page or device)",
    "T": "is stopped (SIGSTOP or SIGTSTP)",
    "t": "is stopped by a debugger",
    "Z": "has died",
    "X": "has died",
    "": "is gone",
}


class HasState:
    state: str  # as in /proc/PID/stat; empty: gone

    @property
    def is_alive(self) -> bool:
        return self.state not in ("", "Z", "X")

    @property
    def is_stopped(self) -> bool:
        return self.state in ("T", "t")


@dataclass(frozen=True)
class Process(HasState):
    pid: int
    state: str  # as in /proc/PID/stat; empty: gone
    started: int
    parent: int
    seconds: float  # of processor time
    faults: int  # pages that had to be read
    waits_in: str  # function of the kernel, where it may be seen
    core: Optional[int] = None  # on which it runs, or ran last


def gone(pid: int) -> Process:
    return Process(pid, "", 0, 0, 0.0, 0, "")


def look(pid: int, started: Optional[int] = None) -> Process:
    """`started`: a later process with that number is another one."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        process = Process(
            *(pid, fields[0], int(fields[19]), int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICK),
            *(int(fields[9]), _wchan(pid), int(fields[36])),
        )
    except (OSError, IndexError, ValueError):
        return gone(pid)
    return process if started in (None, 0, process.started) else gone(pid)


def _wchan(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/wchan", encoding="utf-8", errors="replace") as file:
            text = file.read().strip()
        return "" if text == "0" else text
    except OSError:
        return ""


def own_number_of(pid: int) -> Optional[int]:
    """What the process itself has for its number: another one in a name space of its own."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            numbers = next((line.split() for line in file if line.startswith("NSpid:")), [])
    except OSError:
        return None
    return int(numbers[-1]) if len(numbers) > 1 else None


def space_of(pid: int) -> str:
    """The name space in which processes are counted; empty: it cannot be seen."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def all_pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def owner_of(pid: int) -> Optional[int]:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def with_children(pid: int) -> set[int]:
    """A launcher and all that it has started, also what that has started."""
    parents = {each: look(each).parent for each in all_pids()}
    family = {pid}
    while more := {each for each, parent in parents.items() if parent in family} - family:
        family |= more
    return family


def name_of(pid: int) -> str:
    """As the kernel has it: the first 15 characters of its command."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "a program"


def command_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        return os.path.basename(words[0].decode("utf-8", "replace"))
    except OSError:
        return ""
