"""What carries data between ranks, tried: a megabyte goes from one process to another, and is compared."""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from pathlib import Path
from typing import Callable, Optional

from espalier.doctor.check import Check
from espalier.sizes import print_bytes

SIZE = 1 << 20
_PATTERN = bytes(range(1, 256)) * (SIZE // 255 + 1)
PATTERN = _PATTERN[:SIZE]
_LOST = "what arrived is not what was sent"


def memfd() -> Check:
    try:
        descriptor = os.memfd_create("espalier-doctor", os.MFD_CLOEXEC)
    except (AttributeError, OSError) as error:
        todo = "allow memfd_create in the container's profile"
        return Check("memfd", None, f"refused ({error}); /dev/shm is used instead", todo)
    try:
        trouble = _through(descriptor)
    finally:
        os.close(descriptor)
    if trouble:
        return Check("memfd", None, f"another process cannot share it ({trouble}); /dev/shm is used instead", "mount /proc")
    return Check("memfd", True, f"{print_bytes(SIZE)} written by another process, which opened it through /proc")


def _through(descriptor: int) -> Optional[str]:
    """A child opens the file as a rank opens another's, and writes; it is read here. What went wrong, or None."""
    os.ftruncate(descriptor, SIZE)
    owner = os.getpid()

    def write() -> None:
        there = os.open(f"/proc/{owner}/fd/{descriptor}", os.O_RDWR)
        with mmap.mmap(there, SIZE) as mapped:
            mapped[:] = PATTERN

    with mmap.mmap(descriptor, SIZE) as here:
        error = in_child(write)
        return os.strerror(error) if error else None if here[:] == PATTERN else _LOST


def in_child(work: Callable[[], None]) -> int:
    """The error number of the OSError that ended it; 0: it went well."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 1)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def shared_memory(folder: str = "/dev/shm") -> Check:
    name = "/dev/shm"
    try:
        room = os.statvfs(folder)
        with tempfile.TemporaryFile(prefix="espalier-doctor-", dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, SIZE)
            trouble = _through(file.fileno())
    except OSError as error:
        return Check(name, None, f"cannot be used ({error.strerror}); memfd does without", "mount -t tmpfs tmpfs /dev/shm")
    if trouble:
        return Check(name, None, f"another process cannot share a file there ({trouble})", "mount /proc")
    free, size = room.f_bavail * room.f_frsize, room.f_blocks * room.f_frsize
    advice = "give the container more (--shm-size), or set ESPALIER_SHM"
    words = f"{print_bytes(free)} free of {print_bytes(size)}; {print_bytes(SIZE)} passed through a file there"
    return Check(name, free >= 64 << 20 or None, words, advice)


def single_copy() -> Check:
    """A sibling's memory is read with process_vm_readv, as a rank would read another's buffer."""
    name = "single copy (CMA)"
    error = _read_from_sibling()
    if error is None:
        return Check(name, True, f"{print_bytes(SIZE)} read from another process's memory")
    todo = "sysctl kernel.yama.ptrace_scope=0" if ptrace_scope() else "add the capability SYS_PTRACE to the container"
    return Check(name, None, f"refused ({error}); the host MPI may need it for its own long messages", todo)


def ptrace_scope() -> int:
    """0 where Yama does not restrict."""
    try:
        return int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        return 0


class _Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def _read_from_sibling() -> Optional[str]:
    """None when it worked. Two children, because a parent may read its own child where siblings may not."""
    buffer = ctypes.create_string_buffer(SIZE)
    ready_read, ready_write = os.pipe()
    gate_read, gate_write = os.pipe()
    owner = os.fork()
    if owner == 0:
        os.close(gate_write)
        ctypes.memmove(buffer, PATTERN, SIZE)
        os.write(ready_write, b"x")
        os.read(gate_read, 1)
        os._exit(0)
    os.read(ready_read, 1)
    error = in_child(lambda: _read_all(owner, buffer))
    for descriptor in (gate_write, gate_read, ready_read, ready_write):
        os.close(descriptor)
    os.waitpid(owner, 0)
    return None if error == 0 else _LOST if error == 255 else os.strerror(error)


def _read_all(owner: int, buffer: ctypes.Array) -> None:
    """`buffer` lies at the same address in both; here it is still empty."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = _Piece(ctypes.addressof(buffer), SIZE)
    there = _Piece(ctypes.addressof(buffer), SIZE)
    read = libc.process_vm_readv(owner, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    if read < 0:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    if read != SIZE or buffer.raw != PATTERN:
        os._exit(255)
