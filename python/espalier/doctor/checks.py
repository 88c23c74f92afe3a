"""What `espalier doctor` looks at: one function per fact."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Optional

from espalier import core
from espalier.doctor import machine, preload, runs as mpi_runs, transfers
from espalier.doctor.check import Check
from espalier.install import library, repair
from espalier.mpi import kinds
from espalier.problem import Problem


def all_checks(runs: bool = True, launcher: Optional[Path] = None, measured: Iterable[Check] = ()) -> Iterator[Check]:
    """`runs`: also with a job under each launcher that is found, or under `launcher` alone; `measured`: of the machine."""
    yield from libraries()
    yield from preload.checks()
    yield hwloc()
    yield transfers.memfd()
    yield transfers.shared_memory()
    yield futex()
    yield transfers.single_copy()
    yield machine.processors()
    yield from measured
    yield machine.huge_pages()
    yield machine.other_copies()
    yield from mpi_runs.checks(runs, launcher)


def libraries() -> Iterator[Check]:
    for kind in kinds.KINDS.values():
        path = library(kind.library)
        yield Check(kind.library, path.exists(), f"for {kind.serves}: {path}", repair())
    try:
        core.describe({"what": "config"})
        yield Check("libespalier.so", True, str(library("libespalier.so")))
    except Problem as problem:
        yield Check("libespalier.so", False, str(problem), repair())


def hwloc() -> Check:
    names = [name for name in ("libhwloc.so.15", ctypes.util.find_library("hwloc"), "libhwloc.so") if name]
    for name in names:
        try:
            version = ctypes.CDLL(name).hwloc_get_api_version()
            return Check("hwloc", True, f"{name}, API {version >> 16}.{version >> 8 & 255}")
        except OSError:
            continue
    return Check("hwloc", None, "cannot be loaded; the machine is read from /sys instead", "apt-get install libhwloc15")


def futex() -> Check:
    """Wakes no thread on a word of our own: 0 when the call is allowed."""
    numbers = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221}
    number = numbers.get(platform.machine())
    if number is None:
        return Check("futex", None, f"not known on {platform.machine()}")
    wake, word = 1, ctypes.c_int(0)
    result = ctypes.CDLL(None, use_errno=True).syscall(number, ctypes.byref(word), wake, 1, None, None, 0)
    if result == 0:
        return Check("futex", True, "ranks that wait long can sleep")
    return Check(
        "futex",
        None,
        f"refused ({os.strerror(ctypes.get_errno())})",
        "allow futex in the container's profile",
    )
