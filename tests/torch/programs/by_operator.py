"""torch.ops.espalier.all_reduce_ beside dist.all_reduce: all types and operators, tensors that are not dense, groups of every
kind, calls under way, torch.compile, gradients, and errors."""

import espalier.torch
import torch
import torch.distributed as dist
from job import Job

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64]
OPS = dict(sum="SUM", avg="AVG", product="PRODUCT", min="MIN", max="MAX", band="BAND", bor="BOR", bxor="BXOR")
all_reduce_ = torch.ops.espalier.all_reduce_


def same(data, op, group):
    """Whether the operator does to it what torch.distributed does."""
    other = data.clone()
    dist.all_reduce(other, getattr(dist.ReduceOp, OPS[op]), group)
    all_reduce_(data, op, group.group_name)
    assert torch.equal(data, other), (data, other, op)


def check_types(job, group):
    for dtype in TYPES:
        for op in OPS:
            if op.startswith("b") and dtype.is_floating_point:
                continue
            if op == "avg" and espalier.torch.why_gloo():  # gloo has none of integers, and older ones none at all
                continue
            for count in (0, 1, 5, 3000):
                same(((torch.arange(count) + job.rank) % 5).to(dtype), op, group)
    same(torch.arange(12.0).reshape(3, 4).t(), "sum", group)
    same(torch.arange(12.0)[::2], "max", group)
    same(torch.tensor([job.rank > 0, True]), "min", group)
    same(torch.tensor(1.5), "sum", group)


def check_after_one_under_way(group):
    first, second = torch.ones(100_000), torch.ones(3)
    work = dist.all_reduce(first, group=group, async_op=True)
    all_reduce_(second, "sum", group.group_name)
    work.wait()
    size = float(dist.get_world_size(group))
    assert first[-1].item() == second[0].item() == size


def check_compiled(group):
    name = group.group_name

    @torch.compile(backend="aot_eager", fullgraph=True)
    def model(data):
        part = data * 2
        all_reduce_(part, "sum", name)
        return part + 1

    assert model(torch.ones(3)).tolist() == [2.0 * dist.get_world_size(group) + 1] * 3


def check_parameter(group):
    """As after an optimizer's step: a leaf that wants a gradient, and its gradient."""
    weight = torch.nn.Parameter(torch.ones(3))
    (weight * 2).sum().backward()
    with torch.no_grad():
        all_reduce_(weight.grad, "avg", group.group_name)
        all_reduce_(weight, "avg", group.group_name)
    assert weight.tolist() == [1.0] * 3 and weight.grad.tolist() == [2.0] * 3


def expect(kind, words, *arguments):
    try:
        all_reduce_(*arguments)
    except kind as problem:
        assert words in str(problem), problem
    else:
        raise AssertionError(f"no error: {words}")


with Job() as job:
    world = dist.group.WORLD
    half = dist.new_group([0, 1])
    by_gloo = dist.new_group(backend="gloo")
    check_types(job, world)
    for group in (world, half, by_gloo):
        if group is not half or job.rank < 2:
            same(torch.arange(7.0) + job.rank, "sum", group)
            check_after_one_under_way(group)
            check_compiled(group)
            if group is not by_gloo:  # which has no average in older versions
                check_parameter(group)
    expect(ValueError, 'no operator "add"; there are sum, avg', torch.ones(1), "add", world.group_name)
    expect(RuntimeError, "nix", torch.ones(1), "sum", "nix")
    same(torch.ones(2), "sum", world)
    if job.size == 2:
        wrong = torch.ones(4 - job.rank)
        expect(RuntimeError, "allreduce of 12 bytes", wrong, "sum", half.group_name)
    print("all done", flush=True)
