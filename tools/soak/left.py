"""What a job has left behind: processes, names in /dev/shm and abstract sockets of Espalier's.

Other jobs run at the same time. A name that came up meanwhile is left behind if no living process holds it.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "ESPALIER_TEST_MARK"
SHM = Path("/dev/shm")
PATIENCE = 10  # seconds until the last rank has ended, once its launcher has
SOCKET = re.compile(r"(\d+) @(espalier-\S*)$", re.M)  # in /proc/net/unix: inode and name


def ranks_with(mark: str) -> list[int]:
    """The processes of the program, without the launcher's: by a variable that the ranks alone have."""
    found = []
    for process in processes():
        try:
            if os.path.basename(os.readlink(process / "exe")) == "soak" and \
                    f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def processes() -> Iterator[Path]:
    return (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())


def names() -> dict[str, str]:
    """name -> what a process that holds it has in /proc/PID/fd or maps."""
    found = {str(entry): str(entry) for entry in SHM.glob("espalier-*")}
    for inode, name in SOCKET.findall(Path("/proc/net/unix").read_text()):
        found[f"@{name}"] = f"socket:[{inode}]"
    return found


def _held() -> set[str]:
    """What living processes have open or mapped."""
    found: set[str] = set()
    for process in processes():
        with contextlib.suppress(OSError):  # it has ended
            found.update(re.findall(rf"{SHM}/espalier-\S+", (process / "maps").read_text()))
            for entry in (process / "fd").iterdir():
                with contextlib.suppress(OSError):  # it is closed
                    found.add(os.readlink(entry))
    return found


def behind(before: dict[str, str], mark: str) -> list[str]:
    """`before`: the names that were there when the job began."""
    until = time.monotonic() + PATIENCE
    while True:
        ranks = [f"process {pid}" for pid in ranks_with(mark)]
        new = {name: holds for name, holds in names().items() if name not in before}
        held = _held() if new else set()
        left = ranks + sorted(name for name, holds in new.items() if holds not in held)
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)
