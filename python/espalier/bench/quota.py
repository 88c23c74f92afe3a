"""A control group with a CPU quota for the jobs of a run, where this process may make one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

PREFIX = "espalier-bench-"
PERIOD_US = 100_000
_MOUNTS = Path("/proc/self/mountinfo")
_GROUPS = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class Quota:
    folder: Optional[Path]  # None: it could not be made
    version: int
    why: str = ""

    @property
    def made(self) -> bool:
        return self.folder is not None

    def wrapped(self, command: list[str]) -> list[str]:
        """The command, which joins the group before it does anything else."""
        assert self.folder is not None, "no group was made"
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *command]

    def described(self) -> dict:
        return {"made": True, "how": f"cgroup v{self.version}, {self.folder}"} if self.made else {"made": False, "why": self.why}


def _mount_points(mounts: str) -> tuple[Optional[Path], Optional[Path]]:
    """Where v2 and v1's cpu controller are mounted."""
    unified = cpu = None
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = (after.split(" ") + ["", ""])[:3]
        point = Path(before.split(" ")[4])
        if kind == "cgroup2":
            unified = unified or point
        elif kind == "cgroup" and "cpu" in options.split(","):
            cpu = cpu or point
    return unified, cpu


def _own_path(groups: str, version: int) -> str:
    for line in groups.splitlines():
        number, controllers, path = line.split(":", 2)
        if (version == 2 and number == "0") or (version == 1 and "cpu" in controllers.split(",")):
            return path.lstrip("/")
    return ""


def places(mounts: str, groups: str) -> list[tuple[int, Path]]:
    """Folders in which the group might be made, the best first. A v2 group with processes of its own cannot
    hand the controller on, so there the parent's folder counts too."""
    unified, cpu = _mount_points(mounts)
    found = []
    if unified:
        own = unified / _own_path(groups, 2)
        found += [(2, own)] + ([(2, own.parent)] if own != unified else [])
    if cpu:
        found += [(1, cpu / _own_path(groups, 1))]
    return found


def _limit(folder: Path, version: int, cores: float) -> None:
    quota = int(cores * PERIOD_US)
    if version == 2:
        (folder / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        return
    (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (folder / "cpu.cfs_quota_us").write_text(str(quota))


def _try(version: int, parent: Path, cores: float) -> Quota:
    if version == 2 and "cpu" not in (parent / "cgroup.controllers").read_text().split():
        raise OSError(f"{parent} has no cpu controller")
    if version == 2 and "cpu" not in (parent / "cgroup.subtree_control").read_text().split():
        raise OSError(f"{parent} does not hand the cpu controller on")
    folder = parent / f"{PREFIX}{os.getpid()}"
    folder.mkdir()
    try:
        _limit(folder, version, cores)
    except BaseException:
        folder.rmdir()
        raise
    return Quota(folder, version)


def _pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "cgroup.procs").read_text().split()]


def remove(folder: Path, patience: float = 5.0) -> None:
    """Ends what is still in the group and removes it."""
    until = time.monotonic() + patience
    while folder.exists():
        for pid in _pids(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _remove_stale(parent: Path) -> None:
    """Groups of runs that were killed before they could clear up: the process that made them is gone."""
    for folder in parent.glob(f"{PREFIX}*"):
        maker = folder.name.removeprefix(PREFIX)
        if maker.isdigit() and not Path(f"/proc/{maker}").exists():
            remove(folder)


def make(cores: float, where: Optional[list[tuple[int, Path]]] = None) -> Quota:
    reasons = []
    for version, parent in places(_MOUNTS.read_text(), _GROUPS.read_text()) if where is None else where:
        try:
            _remove_stale(parent)
            return _try(version, parent, cores)
        except OSError as error:
            reasons.append(f"{parent}: {error.strerror or error}")
    return Quota(None, 0, "; ".join(reasons) or "no cgroup file system with a cpu controller is mounted")


@contextmanager
def quota(cores: float) -> Iterator[Quota]:
    """The group as long as the block lasts, whatever ends it."""
    found = make(cores)
    try:
        yield found
    finally:
        if found.folder:
            remove(found.folder)
