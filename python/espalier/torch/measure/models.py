"""What `espalier bench --torch` runs beside single calls: a small transformer trained by DDP, and one generated from with tensor
parallelism. Seeds are fixed, so outcomes can be compared between backends."""

from __future__ import annotations

import time
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from espalier.torch.measure.ways import Allreduce

WIDTH, HEADS, LAYERS, WORDS, LENGTH = 128, 4, 2, 200, 32


def train(group: Any, steps: int = 8) -> tuple[float, list[float]]:
    """Seconds of a step, and the mean loss of each."""
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), nn.TransformerEncoder(layer, LAYERS), nn.Linear(WIDTH, WORDS))
    ddp = DistributedDataParallel(model, process_group=group, bucket_cap_mb=1)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05)
    torch.manual_seed(10 + dist.get_rank(group))
    losses, began = [], 0.0
    for step in range(steps):
        if step == 2:
            began = time.perf_counter()
        words = torch.randint(0, WORDS, (4, LENGTH + 1))
        loss = nn.functional.cross_entropy(ddp(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().double()
        dist.all_reduce(mean, group=group)
        losses.append(mean.item() / dist.get_world_size(group))
    return (time.perf_counter() - began) / (steps - 2), [round(loss, 4) for loss in losses]


class _Block(nn.Module):
    """A layer without attention, cut as tensor parallelism cuts it: columns, then rows, and a sum over the ranks."""

    def __init__(self, allreduce: Allreduce, ranks: int, rank: int) -> None:
        super().__init__()
        hidden = 4 * WIDTH
        self.first = nn.Parameter(torch.randn(hidden, WIDTH).chunk(ranks)[rank] / WIDTH**0.5)
        self.second = nn.Parameter(torch.randn(WIDTH, hidden).chunk(ranks, dim=1)[rank] / hidden**0.5)
        self.allreduce = allreduce

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        part = torch.relu(data @ self.first.T) @ self.second.T
        self.allreduce(part)
        return data + part


@torch.no_grad()
def generate(allreduce: Allreduce, tokens: int = 30, layers: int = 24) -> tuple[float, list[int]]:
    """Seconds of a token, with two sums over all ranks in each of the layers' pairs, and the tokens."""
    ranks, rank = dist.get_world_size(), dist.get_rank()
    torch.manual_seed(2)
    words = torch.randn(WORDS, WIDTH)
    blocks = [_Block(allreduce, ranks, rank) for _ in range(2 * layers)]
    told, state, began = [1], torch.zeros(1, WIDTH), 0.0
    for token in range(tokens):
        if token == 5:
            began = time.perf_counter()
        state = 0.5 * state + words[told[-1]]
        data = state
        for block in blocks:
            data = nn.functional.layer_norm(block(data), (WIDTH,))
        told.append(int((data @ words.T).argmax()))
    return (time.perf_counter() - began) / (tokens - 5), told
