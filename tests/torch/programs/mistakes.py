"""What one rank does wrong, and what the others then hear: each expects an error, prints it, and goes on, or ends well.
Arguments: `differences`, or what rank 1 does: `die`, `stop` or `sleep`; and `later` where calls are begun by async_op=True."""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from job import Job

Op = dist.ReduceOp


class Calls:
    """torch.distributed's collectives, in a group; `later`: begun first, and waited for at the end."""

    def __init__(self, group, later):
        self._group, self._later, self._begun = group, later, []

    def __getattr__(self, name):
        def call(*arguments, **keywords):
            work = getattr(dist, name)(*arguments, group=self._group, async_op=self._later, **keywords)
            self._begun += [work] if self._later else []

        return call

    def wait(self):
        for work in self._begun:
            work.wait()


def other(rank):
    return torch.int32 if rank else torch.float32


def four(rank):
    return torch.ones(4, dtype=other(rank))


def list_at_root(rank):
    return None if rank else [four(rank), four(rank)]


# By the words of which at least one rank hears all.
DIFFERENCES = {
    "shapes": lambda c, rank: c.all_reduce(torch.ones(3 if rank else 4)),
    "order": lambda c, rank: c.barrier() if rank else c.all_reduce(torch.ones(4)),
    "root": lambda c, rank: (c.broadcast(torch.ones(4), src=rank), c.barrier()),  # where no rank waited for the other
    "operator": lambda c, rank: c.all_reduce(torch.ones(4), Op.MAX if rank else Op.SUM),
    "average": lambda c, rank: c.all_reduce(torch.ones(4), Op.AVG if rank else Op.SUM),  # the library adds in both
    "all_reduce": lambda c, rank: c.all_reduce(four(rank)),
    "sign": lambda c, rank: c.all_reduce(torch.ones(16, dtype=torch.uint8 if rank else torch.int8)),  # the same bits
    "all_reduce_coalesced": lambda c, rank: c.all_reduce_coalesced([four(rank), four(rank)]),
    "reduce": lambda c, rank: (c.reduce(four(rank), 0), c.barrier()),
    "reduce_scatter_tensor": lambda c, rank: c.reduce_scatter_tensor(four(rank), four(rank).repeat(2)),
    "broadcast": lambda c, rank: (c.broadcast(four(rank), src=0), c.barrier()),
    "all_gather": lambda c, rank: c.all_gather([four(rank), four(rank)], four(rank)),
    "all_gather_into_tensor": lambda c, rank: c.all_gather_into_tensor(four(rank).repeat(2), four(rank)),
    "gather": lambda c, rank: (c.gather(four(rank), list_at_root(rank)), c.barrier()),
    "scatter": lambda c, rank: (c.scatter(four(rank), list_at_root(rank)), c.barrier()),
}


def heard(name, group, call, later):
    began = time.monotonic()
    calls = Calls(group, later)
    try:
        call(calls, dist.get_rank())
        calls.wait()
    except dist.DistBackendError as problem:
        print(f"{name}: after {time.monotonic() - began:.1f} s: {problem}", flush=True)
        return
    sys.exit(f"{name}: no error")


def differences(later):
    """Each in a group of its own: one that has failed is of no more use, others are."""
    for name, call in DIFFERENCES.items():
        group = dist.new_group()
        dist.all_reduce(torch.ones(1), group=group)
        heard(name, group, call, later)
        dist.all_reduce(torch.ones(1))
        dist.destroy_process_group(group)


def rank_1_is_gone(how, later):
    dist.all_reduce(torch.ones(1))
    if how == "sleep":
        print("sleeps", flush=True)
        time.sleep(60)
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL if how == "die" else signal.SIGSTOP)
    heard(how, None, lambda calls, rank: calls.all_reduce(torch.ones(4)), later)


def main():
    what, later = sys.argv[1], "later" in sys.argv[2:]
    Job(seconds=2 if what == "stop" else 60)
    differences(later) if what == "differences" else rank_1_is_gone(what, later)
    sys.stdout.flush()
    os._exit(0)


main()
