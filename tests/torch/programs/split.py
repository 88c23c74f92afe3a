"""torch.distributed.split_group: parts of the world, one of which has its ranks in another order, and a part of a part."""

import sys

import espalier.torch
import torch
import torch.distributed as dist
from job import Job


def total(group):
    data = torch.full((5,), 2.0 ** dist.get_rank())
    dist.all_reduce(data, group=group)
    return data[0].item()


with Job() as job:
    if not hasattr(dist.ProcessGroup, "split_group"):
        sys.exit("no split_group of CPUs in this torch")
    half = dist.split_group(split_ranks=[[1, 0], [2, 3]])
    mine = [1, 0] if job.rank < 2 else [2, 3]
    assert dist.get_process_group_ranks(half) == mine and half.rank() == mine.index(job.rank)
    assert espalier.torch.why_gloo(half) == "" and total(half) == sum(2.0**rank for rank in mine)
    everyone = [torch.zeros(1) for _ in range(2)]
    dist.all_gather(everyone, torch.tensor([float(job.rank)]), group=half)
    assert [int(one) for one in everyone] == mine
    some = dist.split_group(split_ranks=[[0, 3]])
    if job.rank in (0, 3):
        assert total(some) == 9.0
        alone = dist.split_group(some, [[0], [1]])
        assert total(alone) == 2.0**job.rank
    else:
        assert some is dist.GroupMember.NON_GROUP_MEMBER
    assert total(dist.group.WORLD) == 15.0
    print("all done", flush=True)
