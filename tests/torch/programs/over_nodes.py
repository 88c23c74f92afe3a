"""A group over pretended nodes (ESPALIER_NODES), beside gloo: what goes through the leaders, and what is gloo's as a whole."""

import espalier.torch
import torch
import torch.distributed as dist
from against_gloo import TYPES, Both, objects, reductions, same_bits
from job import Job


def moves(both, dtype, shape, layout):
    one, n, root = both.data(shape, dtype, layout), both.size, both.count % both.size
    both.call("broadcast", [one], lambda g, t, **k: dist.broadcast(t[0], root, group=g, **k))
    if not shape:
        return
    flat = torch.zeros([n * shape[0], *shape[1:]], dtype=dtype)
    both.call("all_gather_into_tensor", [flat, one], lambda g, t, **k: dist.all_gather_into_tensor(t[0], t[1], group=g, **k))
    whole = both.data((n * shape[0], *shape[1:]), dtype, layout)
    both.call(
        "reduce_scatter_tensor",
        [torch.zeros(shape, dtype=dtype), whole],
        lambda g, t, **k: dist.reduce_scatter_tensor(t[0], t[1], group=g, **k),
    )
    blocks = [torch.zeros(shape, dtype=dtype) for _ in range(n)]
    both.call("all_gather", [one.contiguous(), *blocks], lambda g, t, **k: dist.all_gather(t[1:], t[0], group=g, **k))


def mean(both):
    for dtype in (torch.float32, torch.bfloat16):
        data = torch.full((3, 5), both.rank * 2 + 1, dtype=dtype).t()
        dist.all_reduce(data, dist.ReduceOp.AVG)
        assert torch.equal(data, torch.full((5, 3), both.size, dtype=dtype)), data
        own = torch.zeros(2, dtype=dtype)
        dist.reduce_scatter_tensor(own, torch.full((2 * both.size,), both.rank * 2 + 1, dtype=dtype), dist.ReduceOp.AVG)
        assert torch.equal(own, torch.full((2,), both.size, dtype=dtype)), own


with Job() as job:
    assert type(dist.group.WORLD).__name__ == "AcrossGroup", espalier.torch.why_gloo()
    both = Both(job)
    for dtype in TYPES:
        for shape in [(3, 5)] if dtype not in (torch.float32, torch.bfloat16) else [(), (1,), (3, 5), (0,), (40000,)]:
            for layout in ("dense", "strided"):
                reductions(both, dtype, shape, layout)
                moves(both, dtype, shape, layout)
    mean(both)
    same_bits(both)
    objects(both)
    dist.barrier()
    print("all done", flush=True)
