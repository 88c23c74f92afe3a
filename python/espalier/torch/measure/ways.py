"""The allreduces that `espalier bench --torch` measures: sums over all ranks, in place."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, Callable, Optional

import torch
import torch.distributed as dist

Allreduce = Callable[[torch.Tensor], object]
OPERATOR = "espalier operator"


def allreduces(groups: dict[str, Any]) -> dict[str, Allreduce]:
    """Collective. torch.distributed's by each group, and by their names the operators that there are."""
    found: dict[str, Allreduce] = {name: functools.partial(dist.all_reduce, group=group) for name, group in groups.items()}
    name, operator = dist.group.WORLD.group_name, torch.ops.espalier.all_reduce_
    found[OPERATOR] = lambda data: operator(data, "sum", name)
    deepspeed = _deepspeed()
    if deepspeed is not None:
        found["deepspeed operator"] = deepspeed
    return found


def _deepspeed() -> Optional[Allreduce]:
    """Its operator for shared memory, built at first use, where this Python has it."""
    try:
        from deepspeed.ops.op_builder import ShareMemCommBuilder
    except ImportError:
        return None
    rank, size = dist.get_rank(), dist.get_world_size()
    os.environ["LOCAL_SIZE"] = str(size)  # it serves ranks of one node, which it takes from here
    os.environ.update(MASTER_ADDR="espalier", MASTER_PORT=str(os.getppid()))  # the name of its memory, which it leaves behind
    ShareMemCommBuilder().load().initialize(size, rank)
    dist.barrier()
    for path in Path("/dev/shm").glob(f"deepspeed_allreduce_buffer_{os.getuid()}_espalier_{os.getppid()}_{rank}"):
        path.unlink()
    return torch.ops.deepspeed.inference_all_reduce_
