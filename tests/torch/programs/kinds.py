"""Which class serves the default group, its halves by order and by turns, and that each adds and hears of all ranks."""

import torch
import torch.distributed as dist
from job import Job

with Job() as job:
    kinds = []
    for ranks in (range(job.size), range(job.size // 2), range(0, job.size, 2)):
        group = dist.group.WORLD if len(ranks) == job.size else dist.new_group(list(ranks))
        if job.rank in ranks:
            data = torch.full((3,), float(job.rank))
            dist.all_reduce(data, group=group)
            assert data.tolist() == [float(sum(ranks))] * 3
            kinds.append(type(group).__name__)
    print("kinds", *kinds, flush=True)
