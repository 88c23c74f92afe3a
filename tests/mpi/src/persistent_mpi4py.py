"""Persistent collectives through mpi4py: numpy buffers, in place, in many rounds, completed in every way."""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
# For hosts that have it wrong: "-gather" leaves a collective out, "-testall" a way to complete.
left_out = {argument.removeprefix("-") for argument in sys.argv[1:]}
failed = 0


def expect(right, what):
    global failed
    if not right:
        failed += 1
        print(f"FAILED {what} on rank {rank}", file=sys.stderr, flush=True)


def by_waitany(requests):
    while MPI.Request.Waitany(requests) != MPI.UNDEFINED:
        pass


def by_testall(requests):
    while not MPI.Request.Testall(requests):
        pass


def by_test(requests):
    for request in requests:
        while not request.Test():
            pass


def by_waitsome(requests):
    while MPI.Request.Waitsome(requests) is not None:
        pass


def by_testsome(requests):
    while MPI.Request.Testsome(requests) is not None:
        pass


def by_testany(requests):
    while MPI.Request.Testany(requests) != (MPI.UNDEFINED, True):
        pass


def by_wait(requests):
    for request in requests:
        request.Wait()


WAYS = {"waitall": MPI.Request.Waitall, "wait": by_wait, "testall": by_testall, "waitany": by_waitany, "test": by_test,
        "waitsome": by_waitsome, "testsome": by_testsome, "testany": by_testany}
ways = [complete for name, complete in WAYS.items() if name not in left_out]

for count in (1, 13, 2000):
    root = count % size
    mine, sums, kept = (np.zeros(count, dtype="l") for _ in range(3))
    cast = np.zeros(count, dtype="i")
    table, blocks, back = (np.zeros((size, count), dtype="l") for _ in range(3))
    whole, part = np.zeros((size, count), dtype="l"), np.zeros(count, dtype="l")
    made = {"allreduce": world.Allreduce_init(mine, sums, MPI.SUM),
            "scan": world.Scan_init(MPI.IN_PLACE, kept),
            "bcast": world.Bcast_init(cast, root),
            "alltoall": world.Alltoall_init(blocks, back),
            "reduce_scatter_block": world.Reduce_scatter_block_init(whole, part, MPI.MAX),
            "barrier": world.Barrier_init()}
    if "allgather" not in left_out:
        made["allgather"] = world.Allgather_init(mine, table)
    requests = list(made.values())
    for round, complete in enumerate(2 * ways):
        mine[:] = np.arange(count) + 1000 * rank + round
        kept[:] = mine
        cast[:] = np.arange(count) * round if rank == root else -1
        blocks[:] = mine[None, :] + 7 * np.arange(size)[:, None]
        whole[:] = blocks
        sums[:] = table[:] = back[:] = part[:] = -1
        MPI.Prequest.Startall(requests)
        complete(requests)
        base = np.arange(count) + round
        what = f"of {count} in round {round}"
        expect((sums == size * base + 500 * size * (size - 1)).all(), f"Allreduce_init {what}")
        expect((kept == (rank + 1) * base + 500 * rank * (rank + 1)).all(), f"Scan_init {what}")
        expect((cast == np.arange(count) * round).all(), f"Bcast_init {what}")
        of_all = base[None, :] + 1000 * np.arange(size)[:, None]
        expect((back == of_all + 7 * rank).all(), f"Alltoall_init {what}")
        expect((part == of_all[-1] + 7 * rank).all(), f"Reduce_scatter_block_init {what}")
        expect("allgather" not in made or (table == of_all).all(), f"Allgather_init {what}")
        expect(all(request != MPI.REQUEST_NULL for request in requests), f"the requests stay, {what}")
    made["allreduce"].Start()
    while not made["allreduce"].Get_status():
        pass
    made["allreduce"].Wait()
    expect(made["allreduce"].Test(), "a request that is not started is complete")
    for request in requests:
        request.Free()
        expect(request == MPI.REQUEST_NULL, "a request that is freed is null")

total = world.reduce(failed, root=0)
if rank == 0:
    print(f"persistent_mpi4py.py: {total} failed", flush=True)
sys.exit(1 if failed else 0)
