"""All four collectives through mpi4py: numpy buffers, in place, objects, and a user's operator."""

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
