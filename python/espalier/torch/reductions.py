"""Collectives that compute: allreduce, reduce, reduce_scatter, and their forms over several tensors."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable

import torch
import torch.distributed as dist

from espalier.torch.elements import FOLDS, Fold, fold_of
from espalier.torch.library import in_place, sizes
from espalier.torch.memory import Blocks, dense, packed, room_for, served, unpack
from espalier.torch.work import Done, Worker

if TYPE_CHECKING:
    from espalier.torch.communicator import Communicator

Tensors = list


class Reductions:
    """Of a Group."""

    _comm: Communicator
    _gloo: Any
    _rank: int
    _ranks: int
    _start: Callable[..., dist.Work]
    _worker: Worker
    _lock: threading.Lock
    _c_allreduce: Callable[..., int]
    _in_place: int

    def allreduce(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.AllreduceOptions()
        if len(tensors) == 1 and not getattr(opts, "asyncOp", True) and self._allreduce_fast(tensors[0], opts):
            return Done(tensors)
        return self._allreduce_all("all_reduce", tensors, opts, self._gloo_allreduce)

    def _allreduce_fast(self, tensor: torch.Tensor, opts: Any) -> bool:
        """The case that matters most, without what the others need; False where it is another."""
        fold = FOLDS.get((tensor.dtype, opts.reduceOp.op))
        if fold is None or not fold.simple or not tensor.is_cpu or tensor.layout is not torch.strided or not dense(tensor):
            return False
        if self._worker.busy() or torch.autograd._profiler_enabled():
            return False
        with self._lock:
            comm = self._comm
            if comm.ready_for != fold.label:
                comm.make_ready_for(fold.label)
            code = self._c_allreduce(comm.handle, self._in_place, tensor.data_ptr(), tensor.numel(), fold.type, fold.op)
        if code:
            self._comm.fail(code)
        return True

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.AllreduceCoalescedOptions()
        return self._allreduce_all("all_reduce_coalesced", tensors, opts, self._gloo.allreduce_coalesced)

    def _gloo_allreduce(self, tensors: Tensors, opts: Any) -> dist.Work:
        return self._gloo.allreduce(tensors, opts)

    def _allreduce_all(self, name: str, tensors: Tensors, opts: Any, elsewhere: Callable[..., dist.Work]) -> dist.Work:
        op = opts.reduceOp
        folds = [fold_of(tensor.dtype, op) for tensor in tensors]
        if None in folds or not served(tensors):
            return elsewhere(tensors, opts)

        def run() -> None:
            for tensor, fold in zip(tensors, folds):
                assert fold is not None
                self._allreduce_one(tensor, fold)

        return self._start(name, opts, run, tensors)

    def _allreduce_one(self, tensor: torch.Tensor, fold: Fold) -> None:
        data = packed(tensor)
        _premultiply(data, fold)
        self._comm.call_as(fold.label, "allreduce", in_place(), data.data_ptr(), data.numel(), fold.type, fold.op)
        self._finish(data, fold)
        unpack(data, tensor)

    def reduce(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.ReduceOptions()
        tensor, root = tensors[opts.rootTensor], opts.rootRank
        fold = fold_of(tensor.dtype, opts.reduceOp)
        if fold is None or not served(tensors):
            return self._gloo.reduce(tensors, opts)

        def run() -> None:
            assert fold is not None
            data = packed(tensor) if fold.factor is None else _scaled(tensor, fold)
            here = self._rank == root
            send, receive = (in_place(), data.data_ptr()) if here else (data.data_ptr(), None)
            self._comm.call_as(fold.label, "reduce", send, receive, data.numel(), fold.type, fold.op, root)
            if here:
                self._finish(data, fold)
                unpack(data, tensor)

        return self._start("reduce", opts, run, tensors)

    def reduce_scatter_single(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> dist.Work:
        return self.reduce_scatter_single_coalesced([output], [tensor], opts)

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs: Tensors, tensors: Tensors, opts: Any = None) -> dist.Work:
        return self._reduce_scatter_all(outputs, [[tensor] for tensor in tensors], opts, coalesced=True)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def reduce_scatter(self, outputs: Tensors, lists: list[Tensors], opts: Any = None) -> dist.Work:
        return self._reduce_scatter_all(outputs, lists, opts, coalesced=False)

    def _reduce_scatter_all(self, outputs: Tensors, lists: list[Tensors], opts: Any, coalesced: bool) -> dist.Work:
        opts = opts if opts is not None else dist.ReduceScatterOptions()
        op = opts.reduceOp
        folds = [fold_of(output.dtype, op) for output in outputs]
        if None in folds or not served([*outputs, *(tensor for each in lists for tensor in each)]):
            return self._gloo_reduce_scatter(outputs, lists, opts, coalesced)
        for output, inputs in zip(outputs, lists):
            self._check_scattered(output, inputs)

        def run() -> None:
            for output, inputs, fold in zip(outputs, lists, folds):
                assert fold is not None
                self._reduce_scatter_one(output, inputs, fold)

        return self._start("reduce_scatter", opts, run, outputs)

    def _gloo_reduce_scatter(self, outputs: Tensors, lists: list[Tensors], opts: Any, coalesced: bool) -> dist.Work:
        if not coalesced:
            return self._gloo.reduce_scatter(outputs, lists, opts)
        works = [self._gloo._reduce_scatter_base(output, each[0], opts) for output, each in zip(outputs, lists)]
        for work in works[:-1]:
            work.wait()
        return works[-1]

    def _check_scattered(self, output: torch.Tensor, inputs: Tensors) -> None:
        whole = sum(tensor.numel() for tensor in inputs)
        if any(tensor.dtype != output.dtype for tensor in inputs):
            raise ValueError("reduce_scatter: the output and the inputs must have the same type")
        if len(inputs) == 1 and whole != output.numel() * self._ranks:
            raise ValueError(f"reduce_scatter: {whole} elements for {self._ranks} ranks of {output.numel()} elements each")
        if len(inputs) > 1 and (len(inputs) != self._ranks or inputs[self._rank].numel() != output.numel()):
            raise ValueError(f"reduce_scatter: need {self._ranks} inputs, number {self._rank} of the output's size")

    def _reduce_scatter_one(self, output: torch.Tensor, inputs: Tensors, fold: Fold) -> None:
        if fold.factor is not None:
            inputs = [_scaled(tensor, fold) for tensor in inputs]
        blocks, room = Blocks(inputs, to_read=True), room_for(output)
        counts = [tensor.numel() for tensor in inputs]
        send, receive = blocks.address, room.data_ptr()
        if len(set(counts)) == 1:
            self._comm.call_as(fold.label, "reduce_scatter_block", send, receive, output.numel(), fold.type, fold.op)
        else:
            self._comm.call_as(fold.label, "reduce_scatter", send, receive, sizes(counts), fold.type, fold.op)
        self._finish(room, fold)
        unpack(room, output)

    def _finish(self, data: torch.Tensor, fold: Fold) -> None:
        if fold.average:
            with torch.no_grad():
                data.div_(self._ranks, rounding_mode=None if data.is_floating_point() else "trunc")


def _premultiply(data: torch.Tensor, fold: Fold) -> None:
    if fold.factor is not None:
        with torch.no_grad():
            data.copy_(data * fold.factor)  # of integers, too, by a factor that is none


def _scaled(tensor: torch.Tensor, fold: Fold) -> torch.Tensor:
    with torch.no_grad():
        return (tensor * fold.factor).to(tensor.dtype).contiguous()
