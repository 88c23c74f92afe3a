"""A short mpi4py program: times four collectives on numpy arrays and prints one JSON line.

Run by `espalier demo` as it is, with and without Espalier:  mpirun -n 2 python collectives.py REPETITIONS BYTES...
"""

from __future__ import annotations

import json
import sys
from typing import Callable

import numpy as np
from mpi4py import MPI  # type: ignore[import-not-found]  # only in the environment of an MPI


def call_of(name: str, comm: MPI.Comm, send: np.ndarray, receive: np.ndarray) -> Callable[[], None]:
    return {
        "barrier": comm.Barrier,
        "bcast": lambda: comm.Bcast(send, root=0),
        "reduce": lambda: comm.Reduce(send, receive, op=MPI.SUM, root=0),
        "allreduce": lambda: comm.Allreduce(send, receive, op=MPI.SUM),
    }[name]


def check(name: str, comm: MPI.Comm, send: np.ndarray, receive: np.ndarray) -> bool:
    """The arrays hold rank + 1 (for bcast the root's 1), so the sums are known."""
    ranks = comm.size
    if name == "bcast":
        return bool((send == 1).all())
    if name == "allreduce" or (name == "reduce" and comm.rank == 0):
        return bool((receive == ranks * (ranks + 1) / 2).all())
    return True


def measure(name: str, comm: MPI.Comm, count: int, repetitions: int) -> tuple[float, bool]:
    """Median over the repetitions of the slowest rank's time, in microseconds."""
    send, receive = np.empty(count), np.zeros(count)
    call = call_of(name, comm, send, receive)
    times = np.empty(repetitions)
    for i in range(-2, repetitions):  # two to warm up
        send[:] = 0 if name == "bcast" and comm.rank else comm.rank + 1
        comm.Barrier()
        begin = MPI.Wtime()
        call()
        times[i] = MPI.Wtime() - begin
    slowest = np.empty(repetitions)
    comm.Allreduce(times, slowest, op=MPI.MAX)
    right = comm.allreduce(check(name, comm, send, receive), op=MPI.LAND)
    return float(np.median(slowest)) * 1e6, right


def main() -> None:
    comm, repetitions = MPI.COMM_WORLD, int(sys.argv[1])
    points = [("barrier", 0)] + [(name, int(size)) for name in ("bcast", "reduce", "allreduce") for size in sys.argv[2:]]
    found = []
    for name, size in points:
        us, right = measure(name, comm, max(1, size // 8), repetitions)
        found.append({"collective": name, "bytes": size, "us": us, "right": right})
    if comm.rank == 0:
        print("espalier-demo " + json.dumps({"ranks": comm.size, "points": found}), flush=True)


main()
