"""What differs between the versions of torch."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import AllgatherOptions as AllgatherOptions  # which torch.distributed does not name

_HOLDS_WORKS = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 8)
UNSET = timedelta(milliseconds=-1)  # c10d's kUnsetTimeout: the group's own. No time at all is another thing
_works: deque = deque(maxlen=256)


def hold(work: dist.Work) -> None:
    """A work in Python that C++ alone refers to, as DDP does, loses its methods in 2.4, which has no class that holds it (2.8
    has): so the last ones stay."""
    if not _HOLDS_WORKS:
        _works.append(work)


def begin_group(group: dist.ProcessGroup, rank: int, size: int, store: dist.Store, kind: Any, backend: Any) -> None:
    """The base class of a group in Python; `backend`, of `kind`, serves what the group has no method for."""
    if hasattr(group, "_set_default_backend"):
        dist.ProcessGroup.__init__(group, rank, size)
        group._register_backend(torch.device("cpu"), kind, backend)
        group._set_default_backend(kind)
    else:  # 2.4: the default follows from the options
        dist.ProcessGroup.__init__(group, store, rank, size, dist.ProcessGroup.Options(backend=kind.name.lower()))
        group._register_backend(torch.device("cpu"), kind, backend)
