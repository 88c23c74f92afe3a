"""A process group whose collectives on CPU tensors go through Espalier, and all else through an inner group of gloo."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any, Callable, Optional

import torch
import torch.distributed as dist

from espalier.torch.communicator import Communicator
from espalier.torch.gathers import Gathers
from espalier.torch.library import functions, in_place
from espalier.torch.reductions import Reductions
from espalier.torch.split import Splits
from espalier.torch.versions import UNSET, begin_group, hold
from espalier.torch.work import Done, Pending, Results, Worker


class GroupBase(Splits, dist.ProcessGroup):
    """Collectives are begun in the order in which the program calls them, on this thread where the program waits for each, else
    on the group's own. What the base class serves itself (send, recv ...) is gloo's, which is registered for the CPU."""

    def __init__(self, comm: Communicator, gloo: Any, rank: int, size: int, name: str, store: dist.Store) -> None:
        begin_group(self, rank, size, store, dist.ProcessGroup.BackendType.GLOO, gloo)
        self._comm, self._gloo, self._name, self._store = comm, gloo, name, store
        self._ranks = size
        self._rank = rank
        self._lock = threading.Lock()
        self._worker = Worker("espalier")

    def set_timeout(self, timeout: timedelta) -> None:
        """Of this group's collectives from now on."""
        with self._lock:
            self._comm.set_timeout(timeout)
        set_inner = getattr(self._gloo, "set_timeout", None) or getattr(self._gloo, "_set_default_timeout", None)
        if set_inner:
            set_inner(timeout)

    _set_default_timeout = set_timeout

    def monitored_barrier(self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False) -> None:
        self._worker.drain()
        self._gloo.monitored_barrier(UNSET if timeout is None else timeout, wait_all_ranks)

    def _start(self, name: str, opts: object, run: Callable[[], None], results: Results) -> dist.Work:
        if torch.autograd._profiler_enabled():
            run = _profiled(f"{self._name}:{name}", run)
        if getattr(opts, "asyncOp", True):
            work = Pending(self._alone(run), results)
            self._worker.add(work)
            hold(work)
            return work
        self._now(run)
        return Done(results)

    def _now(self, run: Callable[[], None]) -> None:
        if self._worker.busy():
            self._worker.drain()
        with self._lock:
            self._comm.wait_asleep(False)
            run()

    def _alone(self, run: Callable[[], None]) -> Callable[[], None]:
        def locked() -> None:
            with self._lock:
                self._comm.wait_asleep(True)
                run()

        return locked

    def shutdown(self) -> None:
        """Local. The group's memory goes back when all ranks have done so."""
        self._worker.drain()
        self._worker.end()
        with self._lock:
            self._comm.free()

    abort = shutdown


class Group(Reductions, Gathers, GroupBase):
    """Of ranks that share a node."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._c_allreduce, self._in_place = functions().espalier_allreduce, in_place()

    def barrier(self, opts: dist.BarrierOptions = None) -> dist.Work:  # type: ignore[assignment]
        timeout: timedelta = getattr(opts, "timeout", timedelta())
        own = timeout > timedelta() and timeout != self._comm.timeout

        def run() -> None:
            usual = self._comm.timeout
            if own:
                self._comm.set_timeout(timeout)
            self._comm.call("barrier")
            if own:
                self._comm.set_timeout(usual)

        return self._start("barrier", opts, run, [])


def _profiled(name: str, run: Callable[[], None]) -> Callable[[], None]:
    def recorded() -> None:
        with torch.profiler.record_function(name):
            run()

    return recorded
