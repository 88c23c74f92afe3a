"""torch's types and operators as those of espalier.h."""

from __future__ import annotations

from typing import NamedTuple, Optional

import torch
import torch.distributed as dist

_Op = dist.ReduceOp.RedOpType
MAX, MIN, SUM, PROD, _LAND, BAND, _LOR, BOR, _LXOR, BXOR = range(10)

_OPS = {_Op.SUM: SUM, _Op.AVG: SUM, _Op.PREMUL_SUM: SUM, _Op.PRODUCT: PROD, _Op.MIN: MIN, _Op.MAX: MAX}
_BITS = {_Op.BAND: BAND, _Op.BOR: BOR, _Op.BXOR: BXOR}

_INTEGERS = {torch.int8: 0, torch.int16: 1, torch.int32: 2, torch.int64: 3, torch.uint8: 4}
for _name, _number in (("uint16", 5), ("uint32", 6), ("uint64", 7)):  # torch 2.3 and later
    if hasattr(torch, _name):
        _INTEGERS[getattr(torch, _name)] = _number
_FLOATS = {torch.float32: 8, torch.float64: 9, torch.float16: 17, torch.bfloat16: 18}


class Fold(NamedTuple):
    """How to reduce: numbers of espalier.h, a factor for what is sent, and whether the result is divided by the ranks."""

    type: int
    op: int
    factor: object = None  # a number, or a tensor of one
    average: bool = False
    simple: bool = True  # neither of the two


def _tables() -> dict[tuple[torch.dtype, object], Fold]:
    folds = {}
    for dtype, number in {**_INTEGERS, **_FLOATS}.items():
        ops = {**_OPS, **_BITS} if dtype in _INTEGERS else _OPS
        for op, ours in ops.items():
            folds[dtype, op] = Fold(number, ours, average=op == _Op.AVG, simple=op not in (_Op.AVG, _Op.PREMUL_SUM))
    # Bytes of 0 and 1, for which minimum and product are `and`. Their sums are gloo's to refuse.
    for op, ours in {_Op.MIN: MIN, _Op.MAX: MAX, _Op.PRODUCT: MIN, **_BITS}.items():
        folds[torch.bool, op] = Fold(_INTEGERS[torch.uint8], ours)
    return folds


FOLDS = _tables()


def fold_of(dtype: torch.dtype, op: dist.ReduceOp) -> Optional[Fold]:
    """None for what Espalier does not reduce."""
    fold = FOLDS.get((dtype, op.op))
    if fold is not None and op.op == _Op.PREMUL_SUM:
        return fold._replace(factor=op.__getstate__()[1])
    return fold
