"""A small network trained by DDP for a few steps. Losses are printed in full: with two ranks the sums of gradients do not depend
on the order, so they are those of any backend."""

import torch
import torch.distributed as dist
from job import Job
from torch.nn.parallel import DistributedDataParallel

with Job() as job:
    torch.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(40, 200), torch.nn.BatchNorm1d(200), torch.nn.ReLU(), torch.nn.Linear(200, 10))
    model = DistributedDataParallel(model, bucket_cap_mb=0.02)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(100 + job.rank)
    losses = []
    for _ in range(12):
        data, target = torch.randn(16, 40), torch.randint(0, 10, (16,))
        loss = torch.nn.functional.cross_entropy(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(mean.item() / job.size)
    same = [torch.zeros_like(p) for p in model.parameters()]
    for parameter, other in zip(model.parameters(), same):
        other.copy_(parameter.detach())
        dist.broadcast(other, src=0)
        assert torch.equal(parameter, other)
    print("losses", losses, flush=True)
