"""The system calls that Python 3.9 has no names for. All raise OSError with the call and its target in the text."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Optional

NEW_MOUNTS = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000
NEW_NODE = NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_PIDS | NEW_NETWORK

BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 1 << 18
_SET_DEATH_SIGNAL = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """New name spaces for the caller; with NEW_PIDS for the children it makes from now on."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: Optional[str], target: str, kind: Optional[str], flags: int = 0, options: str = "") -> None:
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    _checked(
        _libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None), f"mount {kind or source} on {target}"
    )


def die_with_parent() -> None:
    """The kernel kills the caller as soon as its parent is gone, whatever ended that."""
    _checked(_libc.prctl(_SET_DEATH_SIGNAL, ctypes.c_ulong(signal.SIGKILL)), "prctl")
