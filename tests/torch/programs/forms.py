"""Ranks of one group in different forms, by their numbers: they agree on what they compare, for every type and operator."""

import os

os.environ["ESPALIER_TORCH_NATIVE"] = "auto" if int(os.environ["RANK"]) % 2 else "off"

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from espalier.torch.elements import FOLDS, MOVED  # noqa: E402
from job import Job  # noqa: E402


def reduced(dtype, op, asynchronous):
    """The native form has two ways: without and with torch's own options."""
    operator = dist._make_nccl_premul_sum(2.0) if op.name == "PREMUL_SUM" else getattr(dist.ReduceOp, op.name)
    work = dist.all_reduce(torch.ones(3).to(dtype), operator, async_op=asynchronous)
    if work is not None:
        work.wait()


with Job() as job:
    for (dtype, op), fold in FOLDS.items():
        assert fold.label, (dtype, op)
        for asynchronous in (False, True):
            reduced(dtype, op, asynchronous)
    for dtype in MOVED:
        dist.broadcast(torch.zeros(3, dtype=dtype), 0)
    print("form", type(dist.group.WORLD).__name__, len(FOLDS), len(MOVED), flush=True)
