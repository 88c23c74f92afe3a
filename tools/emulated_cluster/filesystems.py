"""What a node sees of the machine's files: its own /proc, /sys, /dev/shm, /tmp, host name and identity."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

from emulated_cluster import kernel

STATE = Path("/run/emulated-cluster")  # on a tmpfs of the cluster's own; the machine never sees it
_HIDDEN = ("/tmp", "/dev/shm")
_SHM_SIZE, _TMP_SIZE = "1g", "2g"


@dataclass
class _Held:
    """A folder kept reachable by a descriptor while something is mounted above it."""

    path: str
    descriptor: int

    def bind(self) -> None:
        os.makedirs(self.path, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{self.descriptor}", self.path, None, kernel.BIND | kernel.RECURSIVE)
        os.close(self.descriptor)


def _hold(folders: Iterable[str], below: str) -> list[_Held]:
    inside = [path for path in folders if path.startswith(below + "/") and os.path.isdir(path)]
    # The outer folder brings the inner one along.
    outer = [path for path in inside if not any(path.startswith(other + "/") for other in inside)]
    return [_Held(path, os.open(path, os.O_PATH)) for path in dict.fromkeys(outer)]


def _cover(folder: str, options: str, keep: Iterable[str]) -> None:
    """An empty tmpfs on `folder`, in which the kept folders still lie."""
    held = _hold(keep, folder)
    kernel.mount("tmpfs", folder, "tmpfs", 0, options)
    for one in held:
        one.bind()


def _own_sys() -> None:
    """/sys of the own network name space; the control groups stay where programs look for them."""
    groups = "/sys/fs/cgroup"
    held = _Held(groups, os.open(groups, os.O_PATH)) if os.path.isdir(groups) else None
    kernel.mount("sysfs", "/sys", "sysfs")
    if held and os.path.isdir(groups):
        held.bind()


def _replace(target: str, text: str, name: str) -> None:
    if os.path.exists(target):
        source = STATE / f"{name}{target.replace('/', '.')}"
        source.write_text(text)
        kernel.mount(str(source), target, None, kernel.BIND)


def _uuid() -> str:
    return Path("/proc/sys/kernel/random/uuid").read_text()


def make_state() -> None:
    """Called once, by the head: where all nodes find each other's process ids and host names."""
    kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("tmpfs", "/run", "tmpfs", 0, "mode=755")
    STATE.mkdir()


def make_private(name: str, hosts: str, keep: Iterable[str]) -> None:
    """Runs as the first process of a node, in name spaces of its own. `keep`: absolute paths of folders that stay
    visible although they lie below what is hidden."""
    kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("proc", "/proc", "proc")
    _own_sys()
    keep = list(keep)
    for folder, size in zip(_HIDDEN, (_TMP_SIZE, _SHM_SIZE)):
        _cover(folder, f"mode=1777,size={size}", keep)
    # UCX and others tell machines apart by these.
    identity = _uuid()
    _replace("/proc/sys/kernel/random/boot_id", identity, name)
    _replace("/etc/machine-id", identity.replace("-", ""), name)
    _replace("/etc/hostname", name + "\n", name)
    _replace("/etc/hosts", hosts, name)
