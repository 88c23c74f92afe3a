"""Which class serves the default group, and that it adds."""

import torch
import torch.distributed as dist
from job import Job

with Job() as job:
    data = torch.ones(3)
    dist.all_reduce(data)
    assert data.tolist() == [float(job.size)] * 3
    print(type(dist.group.WORLD).__name__, dist.get_backend(), flush=True)
