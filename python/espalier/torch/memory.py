"""Tensors as plain memory: where they are dense, what is put together, and what is taken apart again."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def served(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether all are on the CPU and have memory of their own."""
    return all(tensor.is_cpu and tensor.layout is torch.strided for tensor in tensors)


def dense(tensor: torch.Tensor) -> bool:
    """Whether its memory is its elements in order, with nothing left to do to them."""
    return tensor.is_contiguous() and not tensor.is_neg() and not tensor.is_conj()


def empty(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype)


def packed(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor if it is dense, else a dense copy."""
    if dense(tensor):
        return tensor
    with torch.no_grad():
        return empty(tensor).copy_(tensor)


def room_for(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor if it is dense, else a dense one of its shape, whose elements unpack() puts there."""
    return tensor if dense(tensor) else empty(tensor)


def unpack(room: torch.Tensor, tensor: torch.Tensor) -> None:
    if room is not tensor:
        with torch.no_grad():
            tensor.copy_(room)


def bytes_of(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def flat_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Of a dense tensor. A single element may have any stride, with which torch views nothing as another type."""
    return tensor.as_strided((tensor.numel(),), (1,)).view(torch.uint8)


def _in_a_row(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether they follow each other in memory, as the chunks of one tensor do."""
    at = tensors[0].data_ptr()
    for tensor in tensors:
        if not dense(tensor) or tensor.data_ptr() != at:
            return False
        at += bytes_of(tensor)
    return tensors[0].untyped_storage().data_ptr() == tensors[-1].untyped_storage().data_ptr()


class Blocks:
    """Tensors as one piece of memory, one after the other: their own where they lie so, else a copy."""

    def __init__(self, tensors: Sequence[torch.Tensor], to_read: bool) -> None:
        self._tensors = tensors
        self._whole = None
        if tensors and not _in_a_row(tensors):
            self._whole = torch.empty(sum(tensor.numel() for tensor in tensors), dtype=tensors[0].dtype)
            if to_read:
                with torch.no_grad():
                    for part, tensor in zip(self._parts(), tensors):
                        part.copy_(tensor)

    @property
    def address(self) -> int:
        if self._whole is not None:
            return self._whole.data_ptr()
        return self._tensors[0].data_ptr() if self._tensors else 0

    def bytes(self) -> list[int]:
        return [bytes_of(tensor) for tensor in self._tensors]

    def unpack(self) -> None:
        """What has been received goes to the tensors."""
        if self._whole is not None:
            with torch.no_grad():
                for part, tensor in zip(self._parts(), self._tensors):
                    tensor.copy_(part)

    def _parts(self) -> list[torch.Tensor]:
        assert self._whole is not None
        pieces = self._whole.split([tensor.numel() for tensor in self._tensors])
        return [piece.view(tensor.shape) for piece, tensor in zip(pieces, self._tensors)]


def offsets(lengths: Sequence[int]) -> list[int]:
    """Of blocks that follow each other."""
    places, place = [], 0
    for length in lengths:
        places.append(place)
        place += length
    return places
