"""The process group over the backend in C++. torch's dispatcher, between a group and its backend, takes longer than a short
allreduce, and behind a group in Python it holds the interpreter's lock meanwhile: calls go to the backend itself."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any, Callable, Optional

import torch
import torch.distributed as dist

from espalier.torch.elements import FOLDS
from espalier.torch.memory import dense
from espalier.torch.split import Splits
from espalier.torch.versions import UNSET, begin_group
from espalier.torch.work import Done

_CALLS = """broadcast allreduce_coalesced allreduce_sparse reduce allgather _allgather_base all_gather_single allgather_coalesced
    allgather_into_tensor_coalesced all_gather_single_coalesced gather gather_single gather_into_tensor scatter reduce_scatter
    _reduce_scatter_base reduce_scatter_single reduce_scatter_tensor_coalesced reduce_scatter_single_coalesced alltoall
    alltoall_base all_to_all_single barrier send recv recv_anysource""".split()


def recorder_wanted() -> bool:
    """torch's flight recorder costs some microseconds a call, and torch has it on where no variable says anything: it hears of
    these groups where its variable is set."""
    text = os.environ.get("TORCH_FR_BUFFER_SIZE") or os.environ.get("TORCH_NCCL_TRACE_BUFFER_SIZE") or "0"
    return hasattr(dist.ProcessGroup, "register_pre_hook") and text.isdigit() and int(text) > 0


class DispatchedGroup(Splits, dist.ProcessGroup):
    """Its collectives go through torch's dispatcher, where torch's flight recorder listens."""

    def __init__(self, backend: Any, gloo: Any, name: str, store: dist.Store) -> None:
        kinds = dist.ProcessGroup.BackendType
        begin_group(self, backend.rank(), backend.size(), store, kinds.CUSTOM, backend)
        if name == "gloo":  # what DDP then writes down is of the backend of that kind
            self._register_backend(torch.device("cpu"), kinds.GLOO, gloo)
            self._register_backend(torch.device("cpu"), kinds.CUSTOM, backend)  # the CPU's again
        self._native, self._name, self._store = backend, name, store

    def monitored_barrier(self, timeout: Optional[timedelta] = None, wait_all_ranks: bool = False) -> None:
        self._native.monitored_barrier(UNSET if timeout is None else timeout, wait_all_ranks)

    def set_timeout(self, timeout: timedelta) -> None:
        self._native.set_timeout(timeout)

    _set_default_timeout = set_timeout

    def shutdown(self) -> None:
        """Local. The group's memory goes back when all ranks have done so."""
        self._native.shutdown()

    abort = shutdown


class NativeGroup(DispatchedGroup):
    """Its collectives are the backend's, under the names that this version of torch has."""

    def __init__(self, backend: Any, gloo: Any, name: str, store: dist.Store) -> None:
        super().__init__(backend, gloo, name, store)
        self._now = backend.allreduce_now

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.AllreduceOptions()
        if len(tensors) == 1 and not getattr(opts, "asyncOp", True):
            tensor = tensors[0]
            fold = FOLDS.get((tensor.dtype, opts.reduceOp.op))
            plain = tensor.is_cpu and tensor.layout is torch.strided and dense(tensor)
            if fold is not None and fold.simple and plain and not torch.autograd._profiler_enabled():
                self._now(tensor.data_ptr(), tensor.numel(), fold.packed)
                return Done(tensors)
        if tensors[0].is_sparse:
            return self._native.allreduce_sparse(tensors, opts)
        return self._native.allreduce(tensors, opts)


def _handed_on(name: str) -> Callable[..., Any]:
    def call(self: NativeGroup, *arguments: Any, **keywords: Any) -> Any:
        return getattr(self._native, name)(*arguments, **keywords)

    return call


for _name in _CALLS:
    if hasattr(torch._C._distributed_c10d.Backend, _name):
        setattr(NativeGroup, _name, _handed_on(_name))
