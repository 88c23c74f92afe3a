"""A rank of `espalier bench --torch`: allreduces by Espalier and by gloo in turns, and two small models, for each backend with
its losses. Rank 0 prints one JSON document. Run with RANK, WORLD_SIZE and a file store, by espalier.bench.torch_backends."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from typing import Any

import torch
import torch.distributed as dist

import espalier.torch
from espalier.torch.group import Group
from espalier.torch.measure.models import generate, train

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def _timed(data: torch.Tensor, calls: int, group: Any) -> float:
    """Mean seconds of a call of this rank."""
    dist.barrier()
    began = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(data, group=group)
    return (time.perf_counter() - began) / calls


def _check(group: Any, count: int, dtype: torch.dtype) -> None:
    """The sum of what no rank has alike; small integers, which are exact in all types."""
    rank, size = dist.get_rank(), dist.get_world_size()
    data = ((torch.arange(count) + rank) % 7).to(dtype)
    dist.all_reduce(data, group=group)
    wanted = sum(((torch.arange(count) + other) % 7) for other in range(size)).to(dtype)
    if not torch.equal(data, wanted):
        sys.exit(f"rank {rank}: a sum of {count} {dtype} is wrong")


def _points(groups: dict[str, Any], sizes: list[int], rounds: int) -> list[dict]:
    points = []
    for name, dtype in TYPES.items():
        for size in sizes:
            count = max(1, size // dtype.itemsize)
            data = torch.zeros(count, dtype=dtype)
            taken: dict[str, list[float]] = {backend: [] for backend in groups}
            calls = {}
            for backend, group in groups.items():
                _check(group, count, dtype)
                once = torch.tensor(_timed(data, 3, group))
                dist.all_reduce(once, dist.ReduceOp.MAX)
                calls[backend] = max(2, min(300, int(0.02 / once.item())))
            for _ in range(rounds):
                for backend, group in groups.items():
                    slowest = torch.tensor(_timed(data, calls[backend], group), dtype=torch.float64)
                    dist.all_reduce(slowest, dist.ReduceOp.MAX)
                    taken[backend].append(slowest.item() * 1e6)
            for backend, times in taken.items():
                points.append({"type": name, "bytes": size, "backend": backend, "us": [round(t, 2) for t in times]})
    return points


def _models(groups: dict[str, Any], rounds: int) -> list[dict]:
    found = []
    for kind, run in (("train", train), ("generate", generate)):
        for backend, group in groups.items():
            seconds, outcome = zip(*(run(group) for _ in range(rounds)))
            if any(other != outcome[0] for other in outcome):
                sys.exit(f"{kind} by {backend}: outcomes differ from round to round")
            found.append({"model": kind, "backend": backend, "ms": statistics.median(seconds) * 1e3, "outcome": outcome[0]})
    return found


def main() -> None:
    sizes, rounds, pin = [int(size) for size in sys.argv[1].split(",")], int(sys.argv[2]), sys.argv[3] == "pin"
    torch.set_num_threads(1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if pin:
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpus[rank % len(cpus)]})
    store = "file://" + os.environ["ESPALIER_TORCH_STORE"]
    dist.init_process_group("espalier", init_method=store, rank=rank, world_size=size)
    why = espalier.torch.why_gloo()
    if why:
        sys.exit(f"gloo serves the group: {why}")
    groups = {"espalier": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    points = _points(groups, sizes, rounds)
    models = _models(groups, 3)
    if rank == 0:
        form = "Python" if isinstance(dist.group.WORLD, Group) else "C++"
        found = {"torch": torch.__version__, "form": form, "ranks": size, "points": points, "models": models}
        print(json.dumps(found), flush=True)
    dist.barrier()
    os._exit(0)


if __name__ == "__main__":
    main()
