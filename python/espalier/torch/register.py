"""Makes "espalier" a backend of torch.distributed, and, where ESPALIER_TORCH says so, what "gloo" names, too."""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from typing import Any, Union

import torch
import torch.distributed as dist

from espalier.install import library
from espalier.torch.communicator import Communicator, meet
from espalier.torch.group import Group, GroupBase
from espalier.torch.native import module
from espalier.torch.native_group import DispatchedGroup, NativeGroup, recorder_wanted
from espalier.torch.over_nodes import over_nodes
from espalier.torch.split import made_by

_log = logging.getLogger("espalier.torch")
NATIVE = "espalier_native"  # to stand beside other devices' backends: a process group in Python would take their place
_TIME_TO_BUILD = timedelta(minutes=5)
_reasons: dict[str, str] = {}  # why groups are gloo's, by their names


def register() -> None:
    """ESPALIER_TORCH=gloo: a script that says "gloo" gets Espalier. Nothing where torch has no gloo."""
    if not dist.is_gloo_available():
        return
    if "ESPALIER" not in dist.Backend._plugins:
        dist.Backend.register_backend("espalier", _create, extended_api=True, devices=["cpu"])
        dist.Backend.register_backend(NATIVE, _create_native, extended_api=True, devices=["cpu"])
    if os.environ.get("ESPALIER_TORCH", "").lower() == "gloo":
        dist.Backend._plugins["GLOO"] = dist.Backend._BackendPlugin(_create_as_gloo, True)


def why_gloo(group: Any = None) -> str:
    """Why a group's collectives are gloo's; empty where they go through Espalier."""
    group = group if group is not None else dist.group.WORLD
    if isinstance(group, (GroupBase, DispatchedGroup)) or _is_native(group):
        return ""
    return _reasons.get(getattr(group, "group_name", ""), "it was not made by the backend espalier")


def _is_native(group: Any) -> bool:
    native = module(False)
    try:
        return native is not None and isinstance(group._get_backend(torch.device("cpu")), native.Backend)
    except RuntimeError:  # none for the CPU
        return False


def _create(options: Any, backend_options: object = None) -> Union[dist.ProcessGroup, Any]:
    return _group(options, "espalier")


def _create_native(options: Any, backend_options: object = None) -> Any:
    return _group(options, NATIVE, beside=True)


def _create_as_gloo(options: Any, backend_options: object = None) -> Union[dist.ProcessGroup, Any]:
    return _group(options, "gloo")


def _group(options: Any, name: str, beside: bool = False) -> Any:
    rank, size, timeout = options.group_rank, options.group_size, options.timeout
    ranks = list(options.global_ranks_in_group) or list(range(size))
    comm, why = meet(dist.PrefixStore("espalier", options.store), rank, size, timeout, ranks)  # first: it names who is missing
    gloo = dist.ProcessGroupGloo(dist.PrefixStore("gloo", options.store), rank, size, timeout=timeout)
    if comm is not None:
        return _served(comm, gloo, options, name, beside)
    if not beside:
        group, why_not = over_nodes(options, ranks, gloo, name)
        if group is not None:
            return group
        why = why_not or why
    _reasons[options.group_id] = why
    if rank == 0:
        _log.warning("espalier: the collectives of a group of %d ranks are gloo's: %s", size, why)
    return gloo


def _served(comm: Communicator, gloo: Any, options: Any, name: str, beside: bool) -> Any:
    """In C++ where that is built, or there is time to build it; else in Python. Ranks may differ: they make the same calls."""
    rank, size, timeout = options.group_rank, options.group_size, options.timeout
    native = module(timeout >= _TIME_TO_BUILD)
    if native is not None:
        path = str(library("libespalier.so"))
        recorded = beside or recorder_wanted()
        backend = native.Backend(path, comm.give(), gloo, name, comm.whose_numbers(), timeout, recorded)
        if beside:
            return backend
        return (DispatchedGroup if recorded else NativeGroup)(backend, gloo, name, options.store)
    if beside:
        raise RuntimeError(f"espalier: {NATIVE} needs the backend in C++, which is not built: see python -m espalier.torch")
    return Group(comm, gloo, rank, size, name, options.store)


made_by.append(_group)
