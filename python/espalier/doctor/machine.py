"""What of the system bears on the ranks' speed: processors, huge pages, and what others use to copy."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Optional

from espalier.doctor.check import Check
from espalier.doctor.transfers import ptrace_scope
from espalier.topo.machine import ranges


def _read(path: str) -> Optional[str]:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def quota() -> Optional[float]:
    """Processors that the cgroup of this process allows; None without a limit."""
    limits = []
    for line in (_read("/proc/self/cgroup") or "").splitlines():
        _, controllers, place = line.split(":", 2)
        if controllers == "":
            folders = [
                Path("/sys/fs/cgroup") / place.lstrip("/"),
                *(Path("/sys/fs/cgroup") / place.lstrip("/")).parents,
            ]
            limits += [_v2(folder) for folder in folders if str(folder).startswith("/sys/fs/cgroup")]
        elif "cpu" in controllers.split(","):
            limits += [_v1(Path("/sys/fs/cgroup/cpu") / place.lstrip("/")), _v1(Path("/sys/fs/cgroup/cpu"))]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _v2(folder: Path) -> Optional[float]:
    words = (_read(str(folder / "cpu.max")) or "max").split()
    return None if words[0] == "max" else int(words[0]) / int(words[1])


def _v1(folder: Path) -> Optional[float]:
    limit, period = _read(str(folder / "cpu.cfs_quota_us")), _read(str(folder / "cpu.cfs_period_us"))
    return int(limit) / int(period) if limit and period and int(limit) > 0 else None


def processors() -> Check:
    mask, limit = sorted(os.sched_getaffinity(0)), quota()
    usable, online = len(mask), os.cpu_count() or len(mask)
    words = f"{usable} usable"
    if usable < online:
        words += f" of {online} (mask {ranges(mask)}: a launcher, taskset or cpuset)"
    if limit is None or limit >= usable:
        return Check("processors", True, f"{words}, no quota below that")
    todo = f"run at most {max(1, int(limit))} ranks, or raise the quota"
    return Check("processors", None, f"{words}, but a quota of {limit:g}", todo)


def _chosen(path: str) -> Optional[str]:
    """ "always [madvise] never" to madvise."""
    match = re.search(r"\[(\w+)\]", _read(path) or "")
    return match[1] if match else None


def huge_pages() -> Check:
    """Espalier takes them where it gets them; nothing is lost without, but some time with long messages."""
    folder = "/sys/kernel/mm/transparent_hugepage"
    private, shared = _chosen(f"{folder}/enabled"), _chosen(f"{folder}/shmem_enabled")
    if private is None:
        return Check("huge pages", True, "the kernel has no transparent ones")
    return Check("huge pages", True, f"transparent: {private}; of shared memory: {shared or 'not known'}")


def other_copies() -> Check:
    """What the host MPI may use for its own long messages; Espalier needs neither."""
    scope = ptrace_scope()
    xpmem = "there" if os.access("/dev/xpmem", os.R_OK | os.W_OK) else "not there"
    words = f"XPMEM {xpmem}; ptrace scope {scope}"
    return Check("host's copies", True, f"{words}{': CMA only between parent and child' if scope else ''}")
