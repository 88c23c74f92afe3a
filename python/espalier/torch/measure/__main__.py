"""A rank of `espalier bench --torch`: allreduces by Espalier and by gloo in turns, by the operators of Espalier and DeepSpeed
beside them, and two small models, for each backend with its losses. Rank 0 prints one JSON document. Run with RANK, WORLD_SIZE
and a file store, by espalier.bench.torch_backends."""

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
from espalier.torch.measure.ways import OPERATOR, Allreduce, allreduces

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def _timed(data: torch.Tensor, calls: int, allreduce: Allreduce) -> float:
    """Mean seconds of a call of this rank."""
    dist.barrier()
    began = time.perf_counter()
    for _ in range(calls):
        allreduce(data)
    return (time.perf_counter() - began) / calls


def _check(allreduce: Allreduce, count: int, dtype: torch.dtype) -> None:
    """The sum of what no rank has alike; small integers, which are exact in all types."""
    rank, size = dist.get_rank(), dist.get_world_size()
    data = ((torch.arange(count) + rank) % 7).to(dtype)
    allreduce(data)
    wanted = sum(((torch.arange(count) + other) % 7) for other in range(size)).to(dtype)
    if not torch.equal(data, wanted):
        sys.exit(f"rank {rank}: a sum of {count} {dtype} is wrong")


def _points(ways: dict[str, Allreduce], sizes: list[int], rounds: int) -> list[dict]:
    points = []
    for name, dtype in TYPES.items():
        for size in sizes:
            count = max(1, size // dtype.itemsize)
            data = torch.zeros(count, dtype=dtype)
            taken: dict[str, list[float]] = {way: [] for way in ways}
            calls = {}
            for way, allreduce in ways.items():
                _check(allreduce, count, dtype)
                once = torch.tensor(_timed(data, 3, allreduce))
                dist.all_reduce(once, dist.ReduceOp.MAX)
                calls[way] = max(2, min(300, int(0.02 / once.item())))
            for _ in range(rounds):
                for way, allreduce in ways.items():
                    slowest = torch.tensor(_timed(data, calls[way], allreduce), dtype=torch.float64)
                    dist.all_reduce(slowest, dist.ReduceOp.MAX)
                    taken[way].append(slowest.item() * 1e6)
            for way, times in taken.items():
                points.append({"type": name, "bytes": size, "backend": way, "us": [round(t, 2) for t in times]})
    return points


def _models(groups: dict[str, Any], ways: dict[str, Allreduce], rounds: int) -> list[dict]:
    trained = [("train", backend, lambda group=group: train(group)) for backend, group in groups.items()]
    told = [("generate", way, lambda way=way: generate(ways[way])) for way in (*groups, OPERATOR)]
    found = []
    for kind, backend, run in (*trained, *told):
        seconds, outcome = zip(*(run() for _ in range(rounds)))
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
    ways = allreduces(groups)
    points = _points(ways, sizes, rounds)
    models = _models(groups, ways, 3)
    if rank == 0:
        form = "Python" if isinstance(dist.group.WORLD, Group) else "C++"
        found = {"torch": torch.__version__, "form": form, "ranks": size, "points": points, "models": models}
        print(json.dumps(found), flush=True)
    dist.barrier()
    os._exit(0)


if __name__ == "__main__":
    main()
