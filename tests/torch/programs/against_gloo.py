"""Every collective, by Espalier and by gloo, on the same random data: equal results, with `async_op` and without, of dense
tensors and of others. Reductions add small integers, which all types hold, so no order of additions matters."""

import itertools

import torch
import torch.distributed as dist
from job import Job

TYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.int64, torch.uint8, torch.int8]


class Both:
    """Makes the same data twice, has each group do the call, and compares."""

    def __init__(self, job):
        self.ours, self.gloo = dist.group.WORLD, dist.new_group(backend="gloo")
        self.rank, self.size = job.rank, job.size
        self.count = 0

    def data(self, shape, dtype, layout):
        generator = torch.Generator().manual_seed(1000 * self.count + self.rank)
        if layout == "dense":
            return torch.randint(0, 3, shape, generator=generator).to(dtype)
        rows = [*shape[:-1], shape[-1] * 2] if shape else [2]
        strided = torch.randint(0, 3, rows, generator=generator).to(dtype)
        return strided[..., ::2] if shape else strided[1]

    def call(self, name, tensors, body):
        """body(group, tensors, **keywords) works on `tensors`, or returns others."""
        self.count += 1
        results = []
        for group in (self.ours, self.gloo):
            # gloo takes the memory from a tensor's start for its elements, also where it is not dense.
            mine = [copy(tensor) if group is self.ours else tensor.contiguous().clone() for tensor in tensors]
            asynchronous = self.count % 2 == 0
            work = body(group, mine, async_op=asynchronous)
            if asynchronous and work is not None:
                work.wait()
            results.append(mine)
        for ours, gloo in zip(*results):
            assert torch.equal(ours, gloo), f"rank {self.rank}: {name}: {ours} instead of {gloo}"


def copy(tensor):
    """With the same strides."""
    if tensor.is_contiguous():
        return tensor.clone()
    whole = torch.zeros(tensor.untyped_storage().nbytes() // tensor.element_size(), dtype=tensor.dtype)
    view = whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return view.copy_(tensor)


def reductions(both, dtype, shape, layout):
    ops = [dist.ReduceOp.SUM, dist.ReduceOp.MIN, dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT]
    if not dtype.is_floating_point:
        ops += [dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR]
    for op in ops:
        one = both.data(shape, dtype, layout)
        both.call(f"all_reduce {op} {dtype} {shape}", [one], lambda g, t, op=op, **k: dist.all_reduce(t[0], op, group=g, **k))
        root = both.count % both.size

        def reduce(g, t, op=op, root=root, **k):
            work = dist.reduce(t[0], root, op, group=g, **k)
            if work is not None:
                work.wait()
            if both.rank != root:
                t[0].zero_()  # what is there is not said

        both.call(f"reduce {op} {dtype} {shape}", [one], reduce)


def reduce_scatters(both, dtype, shape, layout):
    many = [both.data(shape, dtype, layout) for _ in range(both.size)]
    out = torch.zeros(shape, dtype=dtype)
    for name, inputs in (("reduce_scatter", many), ("reduce_scatter_tensor", [torch.cat(many)])):
        both.call(name, [out, *inputs], lambda g, t, name=name, **k: reduce_scatter(name, g, t[0], t[1:], **k))


def reduce_scatter(name, group, out, inputs, **keywords):
    parts = inputs if name == "reduce_scatter" else inputs[0]
    try:
        return getattr(dist, name)(out, parts, group=group, **keywords)
    except RuntimeError as problem:
        if "ProcessGroupGloo does not support" not in str(problem):
            raise
    for rank, part in enumerate(inputs if name == "reduce_scatter" else inputs[0].chunk(group.size())):  # of old versions
        dist.all_reduce(total := part.clone(), group=group)
        if rank == group.rank():
            out.copy_(total)
    return None


def moves(both, dtype, shape, layout):
    one, n, root = both.data(shape, dtype, layout), both.size, both.count % both.size
    many = [both.data(shape, dtype, layout) for _ in range(n)]
    here = both.rank == root
    both.call("broadcast", [one], lambda g, t, **k: dist.broadcast(t[0], root, group=g, **k))
    both.call("all_gather", [one, *many], lambda g, t, **k: dist.all_gather(t[1:], t[0], group=g, **k))
    flat = torch.zeros([n * shape[0], *shape[1:]], dtype=dtype)
    both.call(
        "all_gather_into_tensor",
        [flat, one.contiguous()],
        lambda g, t, **k: dist.all_gather_into_tensor(t[0], t[1], group=g, **k),
    )
    both.call("gather", [one, *many], lambda g, t, **k: dist.gather(t[0], t[1:] if here else None, dst=root, group=g, **k))
    both.call("scatter", [one, *many], lambda g, t, **k: dist.scatter(t[0], t[1:] if here else None, src=root, group=g, **k))
    square = torch.stack(many)
    both.call(
        "all_to_all_single",
        [torch.zeros_like(square), square],
        lambda g, t, **k: dist.all_to_all_single(t[0], t[1], group=g, **k),
    )


def uneven(both):
    """Rank s sends (s + r) % 3 rows to rank r; gathered blocks and lists differ in length, too."""
    n, me = both.size, both.rank
    to, of = [(me + r) % 3 for r in range(n)], [(s + me) % 3 for s in range(n)]
    rows = both.data((sum(to), 5), torch.float32, "dense")
    room = torch.zeros(sum(of), 5)
    both.call(
        "all_to_all_single, uneven", [room, rows], lambda g, t, **k: dist.all_to_all_single(t[0], t[1], of, to, group=g, **k)
    )
    ours = [torch.full((of[s],), -1.0) for s in range(n)]
    dist.all_to_all(ours, [torch.full((to[r],), float(me)) for r in range(n)])
    for s in range(n):
        assert torch.equal(ours[s], torch.full((of[s],), float(s)))
    dist.all_gather(blocks := [torch.zeros(r + 1) for r in range(n)], torch.full((me + 1,), float(me)))
    for r in range(n):
        assert torch.equal(blocks[r], torch.full((r + 1,), float(r)))


def own_operators(both):
    """Those that gloo has not."""
    n = both.size
    for dtype in (torch.float32, torch.bfloat16, torch.int32):
        mean = torch.full((3, 5), both.rank * 2 + 1, dtype=dtype).t()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        assert torch.equal(mean, torch.full((5, 3), n, dtype=dtype)), mean
    scaled = torch.full((4,), both.rank + 1.0)
    dist.all_reduce(scaled, dist._make_nccl_premul_sum(0.5))
    assert torch.equal(scaled, torch.full((4,), n * (n + 1) / 4)), scaled
    own = torch.zeros(2)
    dist.reduce_scatter_tensor(own, torch.full((2 * n,), both.rank + 1.0), dist._make_nccl_premul_sum(2.0))
    assert torch.equal(own, torch.full((2,), float(n * (n + 1)))), own
    truth = torch.tensor([both.rank == 0, True, False])
    dist.all_reduce(truth, dist.ReduceOp.MIN)
    assert truth.tolist() == [n == 1, True, False]


def same_bits(both):
    """Of sums that depend on the order: rank 0's are everyone's, in every call."""
    for dtype, count in itertools.product((torch.bfloat16, torch.float16, torch.float32), (1, 30, 3000, 100001, 2000000)):
        generator = torch.Generator().manual_seed(both.rank)
        data = torch.randn(count, generator=generator).to(dtype)
        first, again = data.clone(), data.clone()
        dist.all_reduce(first)
        dist.all_reduce(again)
        told = first.clone()
        dist.broadcast(told, src=0)
        assert torch.equal(first, told) and torch.equal(again, told), (dtype, count)


def objects(both):
    everyone = [None] * both.size
    dist.all_gather_object(everyone, {"rank": both.rank, "text": "x" * (both.rank * 100)})
    assert [one["rank"] for one in everyone] == list(range(both.size))
    told = [f"from {both.rank}"]
    dist.broadcast_object_list(told, src=both.size - 1)
    assert told == [f"from {both.size - 1}"]
    gathered = [None] * both.size if both.rank == 0 else None
    dist.gather_object(both.rank, gathered, dst=0)
    assert gathered is None or gathered == list(range(both.size))


def messages(both):
    if both.size == 1:
        return
    right, left = (both.rank + 1) % both.size, (both.rank - 1) % both.size
    got = torch.zeros(7)
    work = dist.isend(torch.full((7,), float(both.rank)), right)
    dist.recv(got, left)
    work.wait()
    assert torch.equal(got, torch.full((7,), float(left)))
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, got, right), dist.P2POp(dist.irecv, got2 := torch.zeros(7), left)])
    for work in works:
        work.wait()
    assert torch.equal(got2, torch.full((7,), float((left - 1) % both.size)))


def rest(both):
    sparse = torch.sparse_coo_tensor([[both.rank % 2]], [1.0], (4,))
    dist.all_reduce(sparse)
    assert sparse.to_dense().sum() == both.size
    whole = torch.full((3,), 1.0 + 2.0j)
    dist.all_reduce(whole)
    assert torch.equal(whole, torch.full((3,), both.size * (1.0 + 2.0j)))
    dist.barrier()
    dist.barrier(async_op=True).wait()
    dist.group.WORLD.monitored_barrier()
    with dist._coalescing_manager():
        parts = [torch.ones(3), torch.ones(2, 2)]
        for part in parts:
            dist.all_reduce(part)
    assert all(part.unique().item() == both.size for part in parts)
    many = [[torch.zeros(3), torch.zeros(2, 2), torch.zeros(0)] for _ in range(both.size)]
    dist.all_gather_coalesced(many, [torch.full((3,), 1.0 + both.rank), torch.full((2, 2), 9.0 + both.rank), torch.zeros(0)])
    for rank, (row, square, _) in enumerate(many):
        assert torch.equal(row, torch.full((3,), 1.0 + rank)) and torch.equal(square, torch.full((2, 2), 9.0 + rank))
    future = dist.all_reduce(torch.ones(2), async_op=True).get_future()
    assert torch.equal(future.wait()[0], torch.full((2,), float(both.size)))
    chained = dist.all_reduce(torch.ones(2), async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    assert torch.equal(chained.wait(), torch.full((2,), 2.0 * both.size))


def main():
    with Job() as job:
        both = Both(job)
        shapes = [(), (1,), (3, 5), (0,), (2, 3, 1000), (40000,)]
        for dtype, shape, layout in itertools.product(TYPES, shapes, ("dense", "strided")):
            if dtype not in (torch.float32, torch.bfloat16) and len(shape) != 2:
                continue  # every type at one shape, two at all of them
            reductions(both, dtype, shape, layout)
            if shape:  # a number that is no vector is nothing that gloo could scatter
                reduce_scatters(both, dtype, shape, layout)
                moves(both, dtype, shape, layout)
        uneven(both)
        own_operators(both)
        same_bits(both)
        objects(both)
        messages(both)
        rest(both)
        print(f"rank {job.rank}: {both.count} calls", flush=True)


if __name__ == "__main__":
    main()
