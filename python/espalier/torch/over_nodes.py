"""Makes the group of ranks of several nodes, in one agreed decision."""

from __future__ import annotations

from typing import Any, Optional

import torch.distributed as dist

from espalier.torch.across import AcrossGroup
from espalier.torch.communicator import meet
from espalier.torch.places import key, places
from espalier.torch.store_exchange import StoreExchange


def over_nodes(options: Any, ranks: list[int], gloo: Any, name: str) -> tuple[Optional[AcrossGroup], str]:
    """Collective. A group, or None and why, the same on all ranks; no reason: all ranks seem to be of one node, or each of
    another. `ranks`: the group's, as the world numbers them."""
    rank, size, timeout = options.group_rank, options.group_size, options.timeout
    processes = dist.get_world_size() if dist.is_initialized() else size
    exchange = StoreExchange(dist.PrefixStore("nodes", options.store), rank, size, timeout)
    where = places(exchange.gather(key(ranks[rank], processes)), rank)
    if len(where.nodes) in (1, size):
        return None, ""
    store = dist.PrefixStore(f"node{where.mine}", options.store)
    local = [ranks[other] for other in where.ranks]
    comm, why = meet(store, where.ranks.index(rank), len(local), timeout, local)
    outcomes = [said.decode() for said in exchange.gather(b"" if comm else (why or "?").encode())]
    if any(outcomes):
        if comm:
            comm.free()
        return None, next(f"the node of rank {other}: {said}" for other, said in enumerate(outcomes) if said)
    assert comm is not None
    leaders = None
    if where.ranks[0] == rank:
        store = dist.PrefixStore("leaders", options.store)
        leaders = dist.ProcessGroupGloo(store, where.mine, len(where.nodes), timeout=timeout)
    return AcrossGroup(comm, where, leaders, gloo, rank, size, name, options.store), ""
