"""What torch builds on process groups: functional collectives, DTensor, FSDP2."""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from job import Job
from torch.distributed.device_mesh import init_device_mesh

try:
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
except ImportError:  # before torch 2.6, where FSDP2 needs CUDA
    fully_shard = None
    from torch.distributed._tensor import DTensor, Replicate, Shard, distribute_tensor


def functional_collectives(job):
    total = functional.all_reduce(torch.full((3,), job.rank + 1.0), "sum", dist.group.WORLD)
    assert torch.equal(total + 0, torch.full((3,), job.size * (job.size + 1) / 2))
    everyone = functional.all_gather_tensor(torch.full((2,), float(job.rank)), 0, dist.group.WORLD)
    assert (everyone + 0).tolist() == [float(rank) for rank in range(job.size) for _ in range(2)]
    own = functional.reduce_scatter_tensor(torch.ones(2 * job.size), "sum", 0, dist.group.WORLD)
    assert (own + 0).tolist() == [float(job.size)] * 2


def dtensor(job, mesh):
    whole = torch.arange(24.0).reshape(6, 4)
    cut = distribute_tensor(whole.clone(), mesh, [Shard(0)])
    assert torch.equal(cut.full_tensor(), whole)
    assert torch.equal(cut.redistribute(mesh, [Shard(1)]).full_tensor(), whole)
    product = (cut.t() @ cut).redistribute(mesh, [Replicate()])
    assert isinstance(product, DTensor) and torch.allclose(product.to_local(), whole.t() @ whole)


def fsdp(job, mesh):
    torch.manual_seed(3)
    alone = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    cut = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    cut.load_state_dict(alone.state_dict())
    fully_shard(cut, mesh=mesh)
    for model in (alone, cut):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(5, 8)).square().mean().backward()  # the same on all ranks: the mean of gradients is each one's
            optimizer.step()
    for one, other in zip(alone.parameters(), cut.parameters()):
        assert torch.allclose(one, other.full_tensor(), atol=1e-6)


with Job() as job:
    mesh = init_device_mesh("cpu", (job.size,))
    functional_collectives(job)
    dtensor(job, mesh)
    if fully_shard:
        fsdp(job, mesh)
    print("all done", flush=True)
