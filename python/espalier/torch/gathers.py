"""Collectives that move data: broadcast, allgather, gather, scatter and alltoall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import torch
import torch.distributed as dist

from espalier.torch.elements import MOVED
from espalier.torch.library import in_place, sizes
from espalier.torch.memory import Blocks, bytes_of, offsets, packed, room_for, served, unpack
from espalier.torch.versions import AllgatherOptions

if TYPE_CHECKING:
    from espalier.torch.communicator import Communicator

Tensors = list


class Gathers:
    """Of a Group. What is moved is bytes, of the same type on all ranks."""

    _comm: Communicator
    _gloo: Any
    _rank: int
    _ranks: int
    _start: Callable[..., dist.Work]

    def broadcast(self, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.BroadcastOptions()
        if not served(tensors):
            return self._gloo.broadcast(tensors, opts)
        tensor, root = tensors[opts.rootTensor], opts.rootRank

        def run() -> None:
            data = packed(tensor) if self._rank == root else room_for(tensor)
            self._comm.call_as(MOVED.get(data.dtype, 0), "bcast", data.data_ptr(), bytes_of(data), root)
            if self._rank != root:
                unpack(data, tensor)

        return self._start("broadcast", opts, run, tensors)

    def all_gather_single(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any = None) -> dist.Work:
        return self.all_gather_single_coalesced([output], [tensor], opts)

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(self, outputs: Tensors, tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else AllgatherOptions()
        if not served([*outputs, *tensors]):
            return self._gloo.allgather_into_tensor_coalesced(outputs, tensors, opts)
        for output, tensor in zip(outputs, tensors):
            if output.dtype != tensor.dtype or output.numel() != tensor.numel() * self._ranks:
                raise ValueError(
                    f"all_gather: an output of {output.numel()} {output.dtype} for {self._ranks} ranks "
                    f"of {tensor.numel()} {tensor.dtype} each"
                )

        def run() -> None:
            for output, tensor in zip(outputs, tensors):
                data, room = packed(tensor), room_for(output)
                self._allgather(data, room.data_ptr())
                unpack(room, output)

        return self._start("all_gather_into_tensor", opts, run, outputs)

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def _allgather(self, data: torch.Tensor, receive: int) -> None:
        length = bytes_of(data)
        at_its_place = data.data_ptr() == receive + self._rank * length
        send = in_place() if at_its_place else data.data_ptr()
        self._comm.call_as(MOVED.get(data.dtype, 0), "allgather", send, receive, length)

    def allgather(self, lists: list[Tensors], tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else AllgatherOptions()
        if not served([*tensors, *(output for outputs in lists for output in outputs)]):
            return self._gloo.allgather(lists, tensors, opts)
        for outputs, tensor in zip(lists, tensors):
            _check_list("all_gather", "outputs", outputs, tensor, self._ranks, self._rank)

        def run() -> None:
            for outputs, tensor in zip(lists, tensors):
                data, blocks = packed(tensor), Blocks(outputs, to_read=False)
                lengths = blocks.bytes()
                if len(set(lengths)) == 1:
                    self._allgather(data, blocks.address)
                else:
                    places = sizes(lengths), sizes(offsets(lengths))
                    self._comm.call_as(MOVED.get(data.dtype, 0), "allgatherv", data.data_ptr(), blocks.address, *places)
                blocks.unpack()

        return self._start("all_gather", opts, run, lists)

    def allgather_coalesced(self, lists: list[Tensors], tensors: Tensors, opts: Any = None) -> dist.Work:
        """The other way round than allgather's lists: a list of each rank's, with a tensor for each of `tensors`."""
        opts = opts if opts is not None else AllgatherOptions()
        if not served([*tensors, *(output for outputs in lists for output in outputs)]):
            return self._gloo.allgather_coalesced(lists, tensors, opts)
        if any(len(outputs) != len(tensors) for outputs in lists):
            raise ValueError(f"all_gather_coalesced: each rank's list must have {len(tensors)} outputs")
        return self.allgather([list(outputs) for outputs in zip(*lists)], tensors, opts)

    def gather(self, lists: list[Tensors], tensors: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.GatherOptions()
        here, root, tensor = self._rank == opts.rootRank, opts.rootRank, tensors[0]
        outputs = lists[0] if here else []
        if not served([tensor, *outputs]):
            return self._gloo.gather(lists, tensors, opts)
        if here:
            _check_list("gather", "outputs", outputs, tensor, self._ranks, self._rank)
            _check_equal("gather", outputs)

        def run() -> None:
            data, blocks = packed(tensor), Blocks(outputs, to_read=False)
            receive = blocks.address if here else None
            self._comm.call_as(MOVED.get(data.dtype, 0), "gather", data.data_ptr(), receive, bytes_of(data), root)
            blocks.unpack()

        return self._start("gather", opts, run, outputs)

    def scatter(self, outputs: Tensors, lists: list[Tensors], opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.ScatterOptions()
        here, root, output = self._rank == opts.rootRank, opts.rootRank, outputs[0]
        inputs = lists[0] if here else []
        if not served([output, *inputs]):
            return self._gloo.scatter(outputs, lists, opts)
        if here:
            _check_list("scatter", "inputs", inputs, output, self._ranks, self._rank)
            _check_equal("scatter", inputs)

        def run() -> None:
            blocks, room = Blocks(inputs, to_read=True), room_for(output)
            send = blocks.address if here else None
            self._comm.call_as(MOVED.get(room.dtype, 0), "scatter", send, room.data_ptr(), bytes_of(room), root)
            unpack(room, output)

        return self._start("scatter", opts, run, outputs)

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> dist.Work:
        opts = opts if opts is not None else dist.AllToAllOptions()
        if not served([*outputs, *inputs]):
            return self._gloo_alltoall(outputs, inputs, opts)
        if len(outputs) != self._ranks or len(inputs) != self._ranks:
            raise ValueError(f"all_to_all: {len(inputs)} inputs and {len(outputs)} outputs for {self._ranks} ranks")

        def run() -> None:
            sent, received = Blocks(inputs, to_read=True), Blocks(outputs, to_read=False)
            self._alltoallv(sent.address, sent.bytes(), received.address, received.bytes())
            received.unpack()

        return self._start("all_to_all", opts, run, outputs)

    def _gloo_alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any) -> dist.Work:
        return self._gloo.alltoall(outputs, inputs, opts)

    def all_to_all_single(
        self, output: torch.Tensor, tensor: torch.Tensor, output_rows: list[int], rows: list[int], opts: Any = None
    ) -> dist.Work:
        opts = opts if opts is not None else dist.AllToAllOptions()
        if not served([output, tensor]):
            return self._gloo.alltoall_base(output, tensor, output_rows, rows, opts)
        sent = _split_bytes(tensor, rows, self._ranks)
        received = _split_bytes(output, output_rows, self._ranks)

        def run() -> None:
            data, room = packed(tensor), room_for(output)
            self._alltoallv(data.data_ptr(), sent, room.data_ptr(), received)
            unpack(room, output)

        return self._start("all_to_all_single", opts, run, [output])

    alltoall_base = all_to_all_single

    def _alltoallv(self, send: int, sent: list[int], receive: int, received: list[int]) -> None:
        """Always the form with arrays: whether blocks are equal is for each rank to say of its own alone. Types are not compared:
        a rank with nothing to send or to receive may have empty tensors of another."""
        there, here = (sizes(sent), sizes(offsets(sent))), (sizes(received), sizes(offsets(received)))
        self._comm.call("alltoallv", send, *there, receive, *here)


def _check_list(call: str, what: str, many: Tensors, one: torch.Tensor, ranks: int, rank: int) -> None:
    if len(many) != ranks:
        raise ValueError(f"{call}: {len(many)} {what} for {ranks} ranks")
    if any(tensor.dtype != one.dtype for tensor in many):
        raise ValueError(f"{call}: the {what} must be {one.dtype}")
    if many[rank].numel() != one.numel():
        own = f"this rank's tensor {one.numel()}"
        raise ValueError(f"{call}: number {rank} of the {what} has {many[rank].numel()} elements, {own}")


def _check_equal(call: str, tensors: Tensors) -> None:
    if len({tensor.numel() for tensor in tensors}) > 1:
        raise ValueError(f"{call}: all tensors must have the same size")


def _split_bytes(tensor: torch.Tensor, rows: list[int], ranks: int) -> list[int]:
    length = tensor.shape[0] if tensor.dim() else 1
    if not rows:
        if length % ranks:
            raise ValueError(f"all_to_all_single: {length} rows cannot be divided evenly among {ranks} ranks")
        return [bytes_of(tensor) // ranks] * ranks
    if len(rows) != ranks or sum(rows) != length:
        raise ValueError(f"all_to_all_single: splits {rows} of {length} rows for {ranks} ranks")
    row = bytes_of(tensor) // length if length else 0
    return [each * row for each in rows]
