"""What torch's flight recorder has of the group's collectives, and the file that it writes when one fails."""

import json
import os
import pickle

import torch
import torch.distributed as dist
from job import Job
from torch._C import _distributed_c10d as c10d


def recorded():
    trace = json.loads(c10d._dump_fr_trace_json(backend=os.environ["ESPALIER_TEST_BACKEND"].split(":")[-1]))
    return [(entry["profiling_name"].split(":")[1], entry["state"]) for entry in trace.get("entries", [])]


def written(rank):
    path = os.environ["TORCH_FR_DUMP_TEMP_FILE"] + str(rank)
    if not os.path.exists(path):
        return "no file"
    with open(path, "rb") as file:
        return pickle.load(file)["entries"][-1]["state"]


def main():
    job = Job()
    dist.all_reduce(torch.ones(4))
    dist.broadcast(torch.ones(3), 0, async_op=True).wait()
    dist.barrier()
    print("kind", type(dist.group.WORLD).__name__)
    print("recorded", recorded())
    try:
        dist.all_reduce(torch.ones(3 if job.rank else 4))
    except dist.DistBackendError:
        print("written", written(job.rank), flush=True)
        os._exit(0)


if hasattr(dist.ProcessGroup, "register_pre_hook"):
    main()
else:
    print("no hooks of groups", flush=True)
