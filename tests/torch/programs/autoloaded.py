"""A user's script that knows nothing of Espalier but the name of the backend."""

import os

import torch
import torch.distributed as dist

store = "file://" + os.environ["ESPALIER_TEST_STORE"]
dist.init_process_group("espalier", init_method=store, rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
data = torch.ones(2)
dist.all_reduce(data)
assert data.tolist() == [2.0, 2.0]
assert type(dist.group.WORLD).__module__.startswith("espalier")
dist.destroy_process_group()
