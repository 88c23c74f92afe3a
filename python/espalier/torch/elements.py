"""torch's types and operators as those of espalier.h."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

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

# Which types and operators ranks have to agree on, by labels (espalier_comm_set_label). native/labels.hpp has the same two rows,
# since ranks of one group may have different forms. Types that torch will have one day have label 0, and are not compared.
TYPES = """int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool float16 bfloat16 float32 float64 complex32 complex64 complex128
    float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu""".split()
OPERATORS = "SUM AVG PREMUL_SUM PRODUCT MIN MAX BAND BOR BXOR".split()
LABELS = TYPES + [f"{op} of {name}" for op in OPERATORS for name in TYPES]  # from that of label 1 on

_NUMBERS = {text: number for number, text in enumerate(LABELS, start=1)}


def _label(dtype: torch.dtype, op: str = "") -> int:
    name = str(dtype).split(".")[-1]
    return _NUMBERS.get(f"{op} of {name}" if op else name, 0)


MOVED = {getattr(torch, name): _label(getattr(torch, name)) for name in TYPES if hasattr(torch, name)}


class Fold(NamedTuple):
    """How to reduce: numbers of espalier.h, a factor for what is sent, and whether the result is divided by the ranks."""

    type: int
    op: int
    factor: object = None  # a number, or a tensor of one
    average: bool = False
    simple: bool = True  # neither of the two
    label: int = 0
    packed: int = 0  # type, operator and label in one number, as the backend in C++ takes it


def _tables() -> dict[tuple[torch.dtype, object], Fold]:
    folds = {}
    for dtype, number in {**_INTEGERS, **_FLOATS}.items():
        ops = {**_OPS, **_BITS} if dtype in _INTEGERS else _OPS
        for op, ours in ops.items():
            if 5 <= number <= 7 and op in (_Op.AVG, _Op.PREMUL_SUM):
                continue  # torch neither divides nor multiplies these: gloo refuses them before anything is added
            plain = op not in (_Op.AVG, _Op.PREMUL_SUM)
            folds[dtype, op] = _fold(dtype, op, number, ours, average=op == _Op.AVG, simple=plain)
    # Bytes of 0 and 1, for which minimum and product are `and`. Their sums are gloo's to refuse.
    for op, ours in {_Op.MIN: MIN, _Op.MAX: MAX, _Op.PRODUCT: MIN, **_BITS}.items():
        folds[torch.bool, op] = _fold(torch.bool, op, _INTEGERS[torch.uint8], ours)
    return folds


def _fold(dtype: torch.dtype, op: Any, number: int, ours: int, **more: bool) -> Fold:
    label = _label(dtype, op.name)
    return Fold(number, ours, label=label, packed=number | ours << 8 | label << 16, **more)


FOLDS = _tables()


def fold_of(dtype: torch.dtype, op: dist.ReduceOp) -> Optional[Fold]:
    """None for what Espalier does not reduce."""
    fold = FOLDS.get((dtype, op.op))
    if fold is not None and op.op == _Op.PREMUL_SUM:
        return fold._replace(factor=op.__getstate__()[1])
    return fold
