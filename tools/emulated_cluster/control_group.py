"""One CPU control group around all ranks of a cluster.

Without it the kernel's fair scheduler takes every session, and so every node, for a group of its own, and a rank that
yields makes room only within its node.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from espalier.bench import quota

PREFIX = "espalier-cluster-"


def _remove_stale(parent: Path) -> None:
    """Groups whose keeper is gone without having removed them (it was killed)."""
    for folder in parent.glob(f"{PREFIX}*"):
        maker = folder.name[len(PREFIX) :]
        if maker.isdigit() and not Path(f"/proc/{maker}").exists():
            quota.remove(folder)


def _try(version: int, parent: Path) -> Path:
    if version == 2 and "cpu" not in (parent / "cgroup.subtree_control").read_text().split():
        raise OSError(f"{parent} does not hand the cpu controller on")
    folder = parent / f"{PREFIX}{os.getpid()}"
    folder.mkdir()
    return folder


def make() -> tuple[Optional[Path], str]:
    """(the group's folder, "") or (None, why there is none). Named after the calling process."""
    reasons = []
    for version, parent in quota.places(
        Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text()
    ):
        try:
            _remove_stale(parent)
            return _try(version, parent), ""
        except OSError as error:
            reasons.append(f"{parent}: {error.strerror or error}")
    return None, "; ".join(reasons) or "no control group file system with a cpu controller is mounted"


def remove(folder: Optional[Path]) -> None:
    if folder:
        quota.remove(folder)
