"""What one rank does wrong, and what the others then hear: each expects an error, prints it, and ends well."""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from job import Job


def wrong(mistake, rank):
    data = torch.ones(4)
    if mistake == "shapes":
        dist.all_reduce(torch.ones(3) if rank else data)
    elif mistake == "order":
        dist.barrier() if rank else dist.all_reduce(data)
    elif mistake == "root":
        dist.broadcast(data, src=rank)
        dist.all_reduce(data)  # where no rank waited for the other
    elif mistake == "die":
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        dist.all_reduce(data)
    elif mistake == "stop":
        if rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        dist.all_reduce(data)


def main():
    mistake = sys.argv[1]
    job = Job(seconds=2 if mistake == "stop" else 60)
    dist.all_reduce(torch.ones(1))
    if mistake == "sleep":
        time.sleep(60)
    began = time.monotonic()
    try:
        wrong(mistake, job.rank)
    except dist.DistBackendError as problem:
        print(f"after {time.monotonic() - began:.1f} s: {problem}", flush=True)
        os._exit(0)
    sys.exit("no error")


main()
