"""torch.ops.espalier.all_reduce_: an allreduce without what torch.distributed adds to a call, for models whose sums are short.
native/operators.cpp does it on the CPU where the backend in C++ is loaded; here is what serves elsewhere."""

from __future__ import annotations

import torch
import torch.distributed as dist

_OPS = dict(sum="SUM", avg="AVG", product="PRODUCT", min="MIN", max="MAX", band="BAND", bor="BOR", bxor="BXOR")

_library = torch.library.Library("espalier", "DEF")
_library.define("all_reduce_(Tensor(a!) tensor, str reduce_op, str group_name) -> ()", tags=(torch.Tag.pt2_compliant_tag,))


def _by_torch(tensor: torch.Tensor, reduce_op: str, group_name: str) -> None:
    if reduce_op not in _OPS:
        raise ValueError(f'espalier::all_reduce_: no operator "{reduce_op}"; there are {", ".join(_OPS)}')
    group = dist.distributed_c10d._resolve_process_group(group_name)
    dist.all_reduce(tensor, getattr(dist.ReduceOp, _OPS[reduce_op]), group)


def _of_a_compiler(tensor: torch.Tensor, reduce_op: str, group_name: str) -> None:
    """What torch.compile runs on tensors without data: nothing has another shape afterwards."""


# Any device, and the CPU as long as nothing stands there.
_library.impl("all_reduce_", _by_torch, "CompositeExplicitAutograd")
torch.library.register_fake("espalier::all_reduce_", _of_a_compiler, lib=_library)
