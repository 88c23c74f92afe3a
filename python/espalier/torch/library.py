"""libespalier.so by ctypes: its functions, and their errors as exceptions."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_void_p
from functools import cache

import torch.distributed as dist

from espalier.install import library

OK, ARGUMENT, REFUSED, TIMEOUT, SYSTEM, PEERS = range(6)  # espalier.h

Exchange = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p)
Sizes = POINTER(c_size_t)

_COMM, _DATA = c_void_p, c_void_p
_ARGUMENTS = {
    "comm_create": [c_int, c_int, Exchange, c_void_p, POINTER(c_void_p)],
    "comm_set_timeout": [_COMM, c_int],
    "comm_set_background": [_COMM, c_int],
    "comm_set_label": [_COMM, c_int],
    "comm_name_labels": [_COMM, POINTER(c_char_p), c_int],
    "barrier": [_COMM],
    "bcast": [_COMM, _DATA, c_size_t, c_int],
    "reduce": [_COMM, _DATA, _DATA, c_size_t, c_int, c_int, c_int],
    "allreduce": [_COMM, _DATA, _DATA, c_size_t, c_int, c_int],
    "allgather": [_COMM, _DATA, _DATA, c_size_t],
    "allgatherv": [_COMM, _DATA, _DATA, Sizes, Sizes],
    "gather": [_COMM, _DATA, _DATA, c_size_t, c_int],
    "scatter": [_COMM, _DATA, _DATA, c_size_t, c_int],
    "alltoall": [_COMM, _DATA, _DATA, c_size_t],
    "alltoallv": [_COMM, _DATA, Sizes, Sizes, _DATA, Sizes, Sizes],
    "reduce_scatter_block": [_COMM, _DATA, _DATA, c_size_t, c_int, c_int],
    "reduce_scatter": [_COMM, _DATA, _DATA, Sizes, c_int, c_int],
}


class CollectiveError(dist.DistBackendError):
    """A collective failed; `code` is espalier.h's, and the text names the ranks that are to blame."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


@cache
def functions() -> ctypes.CDLL:
    """Throws OSError where there is no library, or one for another machine."""
    loaded = ctypes.CDLL(str(library("libespalier.so")))
    for name, arguments in _ARGUMENTS.items():
        function = getattr(loaded, f"espalier_{name}")
        function.argtypes, function.restype = arguments, c_int
    loaded.espalier_comm_free.argtypes, loaded.espalier_comm_free.restype = [_COMM], None
    loaded.espalier_error_text.argtypes, loaded.espalier_error_text.restype = [], c_char_p
    return loaded


@cache
def in_place() -> int:
    return c_void_p.in_dll(functions(), "ESPALIER_IN_PLACE").value or 0


def error_text() -> str:
    """Of this thread's last call."""
    return functions().espalier_error_text().decode(errors="replace")


def sizes(values: list[int]) -> ctypes.Array:
    return (c_size_t * len(values))(*values)
