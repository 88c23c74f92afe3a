"""A process group over several nodes: each node's ranks meet through Espalier, their first ones, the leaders, through gloo."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
import torch.distributed as dist

from espalier.torch.communicator import Communicator
from espalier.torch.elements import MOVED, Fold, fold_of
from espalier.torch.group import GroupBase
from espalier.torch.library import SYSTEM, CollectiveError, in_place
from espalier.torch.memory import bytes_of, flat_bytes, packed, room_for, served, unpack
from espalier.torch.places import Places
from espalier.torch.versions import AllgatherOptions

Tensors = list
_Op = dist.ReduceOp.RedOpType
_GLOO_OPS = {_Op.AVG: dist.ReduceOp.SUM, _Op.PREMUL_SUM: dist.ReduceOp.SUM}
_GLOO_TYPES = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.uint8, torch.int32, torch.int64}


class AcrossGroup(GroupBase):
    """Allreduce, reduce, reduce_scatter_tensor, broadcast, all_gather_into_tensor and barrier go hierarchically. What is not
    here is gloo's over all ranks, by the base class."""

    def __init__(
        self, comm: Communicator, places: Places, leaders: Optional[Any], gloo: Any, rank: int, size: int, name: str, store: Any
    ) -> None:
        super().__init__(comm, gloo, rank, size, name, store)
        self._places, self._leaders = places, leaders  # leaders: of a leader alone

    def _by_leaders(self, run: Callable[[Any], None]) -> None:
        """A leader that fails leaves its node's ranks, which then hear of it at once."""
        if self._leaders is None:
            return
        try:
            run(self._leaders)
        except RuntimeError as problem:
            self._comm.free()
            raise CollectiveError(SYSTEM, f"espalier: the leaders' exchange over the nodes failed: {problem}") from problem

    def _whole_sum(self, data: torch.Tensor, fold: Fold, op: Any) -> None:
        """In place on the leaders, who alone have it then."""
        leads = self._leaders is not None
        send, receive = (in_place(), data.data_ptr()) if leads else (data.data_ptr(), None)
        self._comm.call_as(fold.label, "reduce", send, receive, data.numel(), fold.type, fold.op, 0)
        options = dist.AllreduceOptions()
        options.reduceOp = _GLOO_OPS.get(op.op, dist.ReduceOp(op.op))
        if data.numel():
            self._by_leaders(lambda leaders: leaders.allreduce([data], options).wait())
        if leads and fold.average:
            with torch.no_grad():
                data.div_(self._ranks, rounding_mode=None if data.is_floating_point() else "trunc")

    def _folds(self, tensors: Tensors, op: Any) -> list[Optional[Fold]]:
        return [fold_of(tensor.dtype, op) if tensor.dtype in _GLOO_TYPES else None for tensor in tensors]

    def _told(self, data: torch.Tensor, root: int = 0) -> None:
        self._comm.call_as(MOVED.get(data.dtype, 0), "bcast", data.data_ptr(), bytes_of(data), root)

    def allreduce(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.AllreduceOptions()
        return self._allreduce_all(tensors, opts, lambda: self._gloo.allreduce(tensors, opts))

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.AllreduceCoalescedOptions()
        return self._allreduce_all(tensors, opts, lambda: self._gloo.allreduce_coalesced(tensors, opts))

    def _allreduce_all(self, tensors: Tensors, opts: Any, elsewhere: Callable[[], dist.Work]) -> dist.Work:
        op, folds = opts.reduceOp, self._folds(tensors, opts.reduceOp)
        if None in folds or not served(tensors):
            return elsewhere()

        def run() -> None:
            for tensor, fold in zip(tensors, folds):
                assert fold is not None
                data = _sent(tensor, fold, copies=False)
                self._whole_sum(data, fold, op)
                self._told(data)
                unpack(data, tensor)

        return self._start("all_reduce", opts, run, tensors)

    def reduce(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.ReduceOptions()
        tensor, root, op = tensors[opts.rootTensor], opts.rootRank, opts.reduceOp
        (fold,) = self._folds([tensor], op)
        if fold is None or not served(tensors):
            return self._gloo.reduce(tensors, opts)

        def run() -> None:
            data = _sent(tensor, fold, copies=True)  # the leaders of other ranks' sums write there
            self._whole_sum(data, fold, op)
            if root in self._places.ranks:
                self._told(data)
            if root == self._rank:
                unpack(data, tensor)

        return self._start("reduce", opts, run, tensors)

    def broadcast(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.BroadcastOptions()
        if not served(tensors):
            return self._gloo.broadcast(tensors, opts)
        tensor, root = tensors[opts.rootTensor], opts.rootRank
        node = next(number for number, ranks in enumerate(self._places.nodes) if root in ranks)

        def run() -> None:
            data = packed(tensor) if self._rank == root else room_for(tensor)
            whole = flat_bytes(data)  # bytes: gloo knows fewer types
            options = dist.BroadcastOptions()
            options.rootRank, options.rootTensor = node, 0
            if node == self._places.mine:
                self._told(data, self._places.ranks.index(root))
            if whole.numel():
                self._by_leaders(lambda leaders: leaders.broadcast([whole], options).wait())
            if node != self._places.mine:
                self._told(data)
            if self._rank != root:
                unpack(data, tensor)

        return self._start("broadcast", opts, run, tensors)

    def all_gather_single(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else AllgatherOptions()
        fits = output.dtype == tensor.dtype and output.numel() == tensor.numel() * self._ranks
        if not served([output, tensor]) or not fits or not tensor.numel():
            return self._gloo._allgather_base(output, tensor, opts)

        def run() -> None:
            room = room_for(output)
            self._gather_whole(packed(tensor), room)
            unpack(room, output)

        return self._start("all_gather_into_tensor", opts, run, [output])

    _allgather_base = all_gather_single

    def _gather_whole(self, data: torch.Tensor, room: torch.Tensor) -> None:
        """Leaders' blocks are as long as the longest: gloo's allgather has but one length."""
        length, most = bytes_of(data), max(len(ranks) for ranks in self._places.nodes)
        blocks = torch.empty(most * length, dtype=torch.uint8) if self._leaders is not None else None
        receive = None if blocks is None else blocks.data_ptr()
        self._comm.call_as(MOVED.get(data.dtype, 0), "gather", data.data_ptr(), receive, length, 0)
        rows = flat_bytes(room).view(self._ranks, length)

        def exchange(leaders: Any) -> None:
            parts = [torch.empty_like(blocks) for _ in self._places.nodes]
            leaders.allgather([parts], [blocks]).wait()
            for part, ranks in zip(parts, self._places.nodes):
                rows[ranks] = part.view(most, length)[: len(ranks)]

        self._by_leaders(exchange)
        self._told(rows)

    def reduce_scatter_single(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.ReduceScatterOptions()
        op, (fold,) = opts.reduceOp, self._folds([output], opts.reduceOp)
        fits = output.dtype == tensor.dtype and tensor.numel() == output.numel() * self._ranks
        if fold is None or not served([output, tensor]) or not fits:
            return self._gloo._reduce_scatter_base(output, tensor, opts)

        def run() -> None:
            data, room = _sent(tensor, fold, copies=True), room_for(output)
            self._whole_sum(data, fold, op)
            own = flat_bytes(data).view(self._ranks, bytes_of(room))[self._places.ranks]  # of meaning on the leader alone
            self._comm.call_as(MOVED.get(room.dtype, 0), "scatter", own.data_ptr(), room.data_ptr(), bytes_of(room), 0)
            unpack(room, output)

        return self._start("reduce_scatter", opts, run, [output])

    _reduce_scatter_base = reduce_scatter_single

    def barrier(self, opts: Any = None) -> dist.Work:
        def run() -> None:
            self._comm.call("barrier")
            self._by_leaders(lambda leaders: leaders.barrier().wait())
            self._comm.call("barrier")

        return self._start("barrier", opts, run, [])


def _sent(tensor: torch.Tensor, fold: Fold, copies: bool) -> torch.Tensor:
    """What this rank adds, dense; with `copies` never the tensor itself."""
    with torch.no_grad():
        if fold.factor is not None:
            return (tensor * fold.factor).to(tensor.dtype).contiguous()
        return packed(tensor).clone(memory_format=torch.contiguous_format) if copies else packed(tensor)
