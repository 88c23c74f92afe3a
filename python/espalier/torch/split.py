"""What a group of Espalier's says of itself, and torch.distributed.split_group: a part of a group, made by its ranks alone."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Callable, Optional

import torch
import torch.distributed as dist

made_by: list[Callable[[Any, str], Any]] = []  # register.py's, which stands above the groups


class Splits:
    """Of a process group with a name and a store."""

    _name: str
    _store: dist.Store
    rank: Callable[[], int]

    def name(self) -> str:
        return self._name

    def getBackendName(self) -> str:
        return self._name

    def get_group_store(self) -> dist.Store:
        return self._store

    def split_group(
        self,
        new_ranks: list[int],
        timeout: Optional[timedelta] = None,
        opts: Any = None,
        group_name: Optional[str] = None,
        group_desc: Optional[str] = None,
        device_types: Any = None,
    ) -> Optional[dist.ProcessGroup]:
        """Collective over `new_ranks`, which are this group's; other ranks get None."""
        if self.rank() not in new_ranks:
            return None
        everyone = dist.get_process_group_ranks(self)
        options = SimpleNamespace(
            store=dist.PrefixStore(f"{group_name}/", self._store),
            group_rank=new_ranks.index(self.rank()),
            group_size=len(new_ranks),
            timeout=timeout or dist.distributed_c10d.default_pg_timeout,
            global_ranks_in_group=[everyone[rank] for rank in new_ranks],
            group_id=group_name or "",
        )
        group = _as_group(made_by[0](options, self._name), options)
        group._set_group_name(group_name or "")
        group._set_group_desc(group_desc or "")
        return group


def _as_group(made: Any, options: Any) -> dist.ProcessGroup:
    """Where gloo serves the part, what has been made is its backend alone."""
    if isinstance(made, dist.ProcessGroup):
        return made
    group = dist.ProcessGroup(options.store, options.group_rank, options.group_size)
    group._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, made)
    group._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
    return group
