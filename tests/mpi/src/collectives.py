"""All collectives through mpi4py: numpy buffers, in place, objects, and a user's operator."""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
failed = 0


def expect(right, what):
    global failed
    if not right:
        failed += 1
        print(f"FAILED {what} on rank {rank}", file=sys.stderr, flush=True)


for count in (1, 5, 1000, 50000):
    numbers = np.arange(count, dtype="d") + rank
    right = np.arange(count, dtype="d") * size + size * (size - 1) / 2
    sums = np.empty_like(numbers)
    world.Allreduce(numbers, sums, MPI.SUM)
    expect((sums == right).all(), f"Allreduce of {count}")
    sums[:] = numbers
    world.Allreduce(MPI.IN_PLACE, sums)
    expect((sums == right).all(), f"Allreduce in place of {count}")
    for root in range(size):
        sums[:] = -1
        world.Reduce(numbers, sums if rank == root else None, MPI.SUM, root)
        expect(rank != root or (sums == right).all(), f"Reduce of {count} to {root}")
        message = np.arange(count, dtype="i") * 2 if rank == root else np.empty(count, dtype="i")
        world.Bcast(message, root)
        expect((message == np.arange(count) * 2).all(), f"Bcast of {count} from {root}")
    world.Barrier()

for count in (1, 5, 3000):
    block = np.arange(count, dtype="l") + 1000000 * rank
    table = np.empty((size, count), dtype="l")
    right = np.arange(count)[None, :] + 1000000 * np.arange(size)[:, None]
    world.Allgather(block, table)
    expect((table == right).all(), f"Allgather of {count}")
    back = np.empty_like(table)
    world.Alltoall(table + rank, back)
    expect((back == block[None, :] + np.arange(size)[:, None]).all(), f"Alltoall of {count}")
    world.Alltoall(MPI.IN_PLACE, back)
    expect((back == table + rank).all(), f"Alltoall in place of {count}")
    for root in range(size):
        table[:] = -1
        world.Gather(block, table if rank == root else None, root)
        expect(rank != root or (table == right).all(), f"Gather of {count} to {root}")
        part = np.empty(count, dtype="l")
        world.Scatter(right + root if rank == root else None, part, root)
        expect((part == block + root).all(), f"Scatter of {count} from {root}")
    lengths = [count * (r % 3) for r in range(size)]
    starts = [sum(lengths[r + 1:]) for r in range(size)]  # the last rank's block first
    mine = np.full(lengths[rank], rank, dtype="l")
    everything = np.full(sum(lengths), -1, dtype="l")
    reverse = np.concatenate([np.full(lengths[r], r, dtype="l") for r in reversed(range(size))])
    world.Allgatherv(mine, [everything, lengths, starts, MPI.LONG])
    expect((everything == reverse).all(), f"Allgatherv of {count}")
    for root in range(size):
        everything[:] = -1
        world.Gatherv(mine, [everything, lengths, starts, MPI.LONG] if rank == root else None, root)
        expect(rank != root or (everything == reverse).all(), f"Gatherv of {count} to {root}")
        mine[:] = -1
        world.Scatterv([reverse, lengths, starts, MPI.LONG] if rank == root else None, mine, root)
        expect((mine == rank).all(), f"Scatterv of {count} from {root}")
    into = np.empty(lengths[rank] * size, dtype="l")
    world.Alltoallv([np.repeat(np.arange(size), lengths), lengths], [into, [lengths[rank]] * size])
    expect((into == rank).all(), f"Alltoallv of {count}")
    sums = np.empty(count, dtype="l")
    world.Reduce_scatter_block(np.tile(block, size), sums)
    total = size * np.arange(count) + 1000000 * size * (size - 1) // 2
    expect((sums == total).all(), f"Reduce_scatter_block of {count}")
    world.Scan(block, sums)
    expect((sums == (rank + 1) * np.arange(count) + 1000000 * rank * (rank + 1) // 2).all(), f"Scan of {count}")
    world.Exscan(block, sums)
    expect(rank == 0 or (sums == rank * np.arange(count) + 1000000 * rank * (rank - 1) // 2).all(), f"Exscan of {count}")
    parts = np.empty(lengths[rank], dtype="l")
    world.Reduce_scatter(np.ones(sum(lengths), dtype="l"), parts, lengths)
    expect((parts == size).all(), f"Reduce_scatter of {count}")

for count in (1, 5, 3000):
    column = MPI.LONG.Create_vector(count, 1, size).Commit()  # of a matrix with a column for each rank
    columns = (np.arange(count)[:, None] + 1000000 * rank + 1000 * np.arange(size)[None, :]).astype("l")
    rows = np.full((size, count), -1, dtype="l")
    places = [8 * r for r in range(size)]
    world.Alltoallw([columns, [1] * size, places, [column] * size],
                    [rows, [count] * size, [8 * count * r for r in range(size)], [MPI.LONG] * size])
    right = np.arange(count)[None, :] + 1000000 * np.arange(size)[:, None] + 1000 * rank
    expect((rows == right).all(), f"Alltoallw of {count}")
    world.Alltoallw(MPI.IN_PLACE, [columns, [1] * size, places, [column] * size])
    expect((columns == right.T).all(), f"Alltoallw in place of {count}")
    column.Free()
    ring = world.Create_cart([size], periods=[True])
    below, above = (rank - 1) % size, (rank + 1) % size
    out = np.array([np.full(count, 2 * rank), np.full(count, 2 * rank + 1)], dtype="l")
    into = np.full_like(out, -1)
    right = np.array([np.full(count, 2 * below + 1), np.full(count, 2 * above)])
    ring.Neighbor_alltoall(out, into)
    expect((into == right).all(), f"Neighbor_alltoall of {count}")
    into[:] = -1
    ring.Neighbor_alltoallv([out, [count, count]], [into, [count, count]])
    expect((into == right).all(), f"Neighbor_alltoallv of {count}")
    into[:] = -1
    blocks = [[count, count], [0, 8 * count], [MPI.LONG, MPI.LONG]]
    ring.Neighbor_alltoallw([out, *blocks], [into, *blocks])
    expect((into == right).all(), f"Neighbor_alltoallw of {count}")
    ring.Neighbor_allgather(out[0], into)
    right = np.array([np.full(count, 2 * below), np.full(count, 2 * above)])
    expect((into == right).all(), f"Neighbor_allgather of {count}")
    into[:] = -1
    ring.Neighbor_allgatherv(out[0], [into, [count, count]])
    expect((into == right).all(), f"Neighbor_allgatherv of {count}")
    ring.Free()

expect(world.allgather({rank}) == [{i} for i in range(size)], "allgather of objects")
expect(world.alltoall([f"{rank}>{i}" for i in range(size)]) == [f"{i}>{rank}" for i in range(size)], "alltoall of objects")
expect(world.scatter(list("abcdefghijklmnop")[:size] if rank == 0 else None) == "abcdefghijklmnop"[rank], "scatter of objects")
expect(world.scan([rank], op=MPI.SUM) == list(range(rank + 1)), "scan of lists, in rank order")

strided = np.zeros((10, 10), dtype="i")
column = MPI.INT.Create_vector(10, 1, 10).Commit()
if rank == 0:
    strided[:, 0] = np.arange(10)
world.Bcast([strided, 1, column], 0)
expect((strided[:, 0] == np.arange(10)).all() and not strided[:, 1:].any(), "Bcast of a column")
column.Free()

words = world.allreduce([f"r{rank}"], op=MPI.SUM)
expect(words == [f"r{i}" for i in range(size)], "allreduce of lists, in rank order")
expect(world.bcast({"rank": rank}, root=size - 1) == {"rank": size - 1}, "bcast of an object")

halves = world.Split(rank % 2, -rank)
expect(halves.allreduce(1) == halves.size, "allreduce on half of the ranks")
halves.Free()

total = world.reduce(failed, root=0)
if rank == 0:
    print(f"collectives.py: {total} failed", flush=True)
sys.exit(1 if failed else 0)
