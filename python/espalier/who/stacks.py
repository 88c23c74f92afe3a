"""The top frames of a process, by a tool that is installed for that and may look: eu-stack or gdb."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from typing import Callable, Optional

from espalier.who import places

MOST = 8  # processes of a job that are asked
FRAMES = 16
# Most of gdb's time goes into the symbols of libraries: those of Espalier are left out, and so are files of symbols alone.
_SETTINGS = ("debuginfod enabled off", "print frame-arguments none", "auto-solib-add off", "auto-load off")
_GDB = ("gdb", "-nx", "-batch", "-q", *(word for each in _SETTINGS for word in ("-iex", f"set {each}")))
_NO_SYMBOLS = ("-iex", "set debug-file-directory /nonexistent")
_FRAME = re.compile(r"^#\d+\s+(?:0x[0-9a-f]+\s+(?:in\s+)?)?(?P<function>[^\s(]+)(?P<rest>.*)$")
_GDB_LINE = re.compile(r"\bat (?:.*/)?([^/\s]+:\d+)\s*$")
_EU_LINE = re.compile(r"^\s+(?:.*/)?([^/\s:]+:\d+)(?::\d+)?\s*$")

Stack = tuple[list[str], str]  # frames, innermost first; or why there are none


def of(pids: Iterable[int], seconds: float) -> dict[int, Stack]:
    """All at once; those that take longer than `seconds` are left without."""
    asked = list(pids)
    command = _command()
    if command is None:
        return {pid: ([], "neither eu-stack nor gdb is installed") for pid in asked}
    begun: dict[int, subprocess.Popen] = {}
    for pid in asked:
        try:
            begun[pid] = _begun(command(pid))
        except OSError:
            continue
    ends = time.monotonic() + seconds
    return {pid: _answer(process, ends) for pid, process in begun.items()}


def _begun(words: list[str]) -> subprocess.Popen[str]:
    none, pipe, same = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
    return subprocess.Popen(words, stdin=none, stdout=pipe, stderr=same, text=True, errors="replace")


def _command() -> Optional[Callable[[int], list[str]]]:
    if shutil.which("eu-stack"):
        return lambda pid: ["eu-stack", "-1", "-s", "-n", str(FRAMES), "-p", str(pid)]
    if shutil.which("gdb"):
        return lambda pid: [*_GDB, *_NO_SYMBOLS, "-p", str(pid), *_libraries(pid), "-ex", f"bt {FRAMES}"]
    return None


def _libraries(pid: int) -> list[str]:
    """Those without whose tables gdb finds no way past them."""
    names = {os.path.basename(path) for path in places.files_of(pid)}
    wanted = sorted(name for name in names if ".so" in name and not name.startswith("libespalier"))
    return [word for name in wanted for word in ("-ex", f"sharedlibrary {re.sub(r'[^A-Za-z0-9_]', '.', name)}")]


def _answer(process: subprocess.Popen, ends: float) -> Stack:
    try:
        text, _ = process.communicate(timeout=max(0.05, ends - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.terminate()  # both let go of the process then
        try:
            text, _ = process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        return frames_of(text) or [], "the tool that reads stacks took too long"
    frames = frames_of(text)
    if frames:
        return frames, ""
    refused = re.search(r"Operation not permitted|Permission denied", text)
    return [], "this user may not look at it (ptrace)" if refused else "the tool that reads stacks found none"


def frames_of(text: str) -> list[str]:
    """"function (file.c:12)", from what either tool prints."""
    frames: list[str] = []
    for line in text.splitlines():
        match = _FRAME.match(line)
        if match:
            function = match["function"].split("@")[0]
            place = _GDB_LINE.search(match["rest"])
            frames.append(f"{function} ({place[1]})" if place else function)
        elif frames and (place := _EU_LINE.match(line)) and not frames[-1].endswith(")"):
            frames[-1] += f" ({place[1]})"
    return frames


def state_of_ptrace() -> Optional[str]:
    """What Yama says, for the user who has no stack."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None
