"""A communicator of libespalier.so for the ranks of a group that share a node."""

from __future__ import annotations

import ctypes
import os
from datetime import timedelta
from functools import cache
from typing import Callable, Optional

import torch.distributed as dist

from espalier.torch.elements import LABELS
from espalier.torch.library import OK, REFUSED, TIMEOUT, CollectiveError, Exchange, error_text, functions
from espalier.torch.store_exchange import StoreExchange

_LONGEST_MS = 2**31 - 1


def milliseconds(timeout: timedelta) -> int:
    return min(max(int(timeout / timedelta(milliseconds=1)), 1), _LONGEST_MS)


class Communicator:
    """One thread at a time. Calls are methods by the names of espalier.h: comm.call("barrier")."""

    def __init__(self, handle: int, ranks: list[int], timeout: timedelta) -> None:
        self.handle = handle
        self._ranks = ranks
        self._process = os.getpid()
        self._sleeps = False
        self._label = 0
        self.ready_for = 0  # the label with which the program's thread can call; -1: none
        self.timeout = timeout
        self.set_timeout(timeout)
        self.call("comm_name_labels", _names(), len(LABELS))

    def set_timeout(self, timeout: timedelta) -> None:
        self.timeout = timeout
        self.call("comm_set_timeout", milliseconds(timeout))

    def wait_asleep(self, on: bool) -> None:
        """Where this rank waits for others, from now on: a thread beside the program's leaves the core to it."""
        if on != self._sleeps:
            self.call("comm_set_background", int(on))
            self._sleeps = on
            self._note()

    def label(self, label: int) -> None:
        """What this rank's next calls are of (elements.py), for the other ranks to compare."""
        if label != self._label:
            self.call("comm_set_label", label)
            self._label = label
            self._note()

    def make_ready_for(self, label: int) -> None:
        self.wait_asleep(False)
        self.label(label)

    def _note(self) -> None:
        self.ready_for = -1 if self._sleeps else self._label

    def call_as(self, label: int, name: str, *arguments: object) -> None:
        """With a label; without one a call has that of the call before."""
        self.label(label)
        self.call(name, *arguments)

    def call(self, name: str, *arguments: object) -> None:
        self.check(getattr(functions(), f"espalier_{name}")(self.handle, *arguments))

    def check(self, code: int) -> None:
        if code != OK:
            self.fail(code)

    def fail(self, code: int) -> None:
        what = "timeout in a collective" if code == TIMEOUT else "a collective failed"
        why = error_text().replace("make a new communicator, or set ESPALIER=off", "destroy the group and make a new one")
        raise CollectiveError(code, f"espalier: {what}: {why}{self.whose_numbers()}")

    def whose_numbers(self) -> str:
        """Of a group that is not the world, since the text has the ranks within the group."""
        if self._ranks == list(range(len(self._ranks))):
            return ""
        return f" (the group's ranks 0 to {len(self._ranks) - 1} are the world's ranks {', '.join(map(str, self._ranks))})"

    def give(self) -> int:
        """The handle, to be freed by who gets it."""
        handle, self.handle = self.handle, 0
        return handle

    def free(self) -> None:
        handle, self.handle = self.handle, 0
        if handle and os.getpid() == self._process:  # a forked child's copy is its parent's
            functions().espalier_comm_free(handle)

    def __del__(self) -> None:
        if functions is not None and self.handle:  # None: the interpreter is ending
            self.free()


@cache
def _names() -> ctypes.Array:
    return (ctypes.c_char_p * len(LABELS))(*(text.encode() for text in LABELS))


def meet(store: dist.Store, rank: int, size: int, timeout: timedelta, ranks: list[int]) -> tuple[Optional[Communicator], str]:
    """Collective. A communicator, or None and the reason, the same on all ranks. That ranks share a node is not believed but
    tried: they map a page of one of them."""
    exchange = StoreExchange(store, rank, size, timeout)
    comm, why = _create(exchange, rank, size, lambda handle: Communicator(handle, ranks, timeout))
    if exchange.failure:  # ranks are missing: there is none to agree with
        raise RuntimeError(f"espalier: {exchange.failure}")
    outcomes = exchange.gather(b"" if comm else why.encode())
    for other, said in enumerate(outcomes):
        if said:
            if comm:
                comm.free()
            return None, f"rank {other}: {said.decode()}"
    return comm, ""


def _create(
    exchange: StoreExchange, rank: int, size: int, made: Callable[[int], Communicator]
) -> tuple[Optional[Communicator], str]:
    library, why = None, ""
    try:
        library = functions()
    except (OSError, AttributeError) as problem:
        why = f"no library: {problem}"
    if b"-" in exchange.gather(b"-" if library is None else b"+") or library is None:
        return None, why  # empty here where it is another rank that has none
    handle = ctypes.c_void_p()
    callback = Exchange(exchange.gather_into)
    code = library.espalier_comm_create(rank, size, callback, None, ctypes.byref(handle))
    if code == OK:
        return made(handle.value or 0), ""
    return None, error_text() if code == REFUSED else f"could not make a communicator: {error_text()}"
