"""LightGBM's collectives by Espalier: LGBM_NetworkInitWithFunctions takes an allgather and a reduce-scatter, and
what LightGBM exchanges (bins, histograms, best splits) then goes through shared memory in place of sockets.

    network = Network("name of the job", rank, size)     # one in each process of the machine
    lightgbm.train({"tree_learner": "data", "num_machines": size, ...}, ...)
    network.close()

LightGBM keeps its network per thread: make it and train on the same one.
"""

import ctypes
import os
import sys
import traceback
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int32, c_size_t, c_void_p

import lightgbm

# LightGBM's include/LightGBM/meta.h: sizes and offsets are bytes in int32; the reducer is handed over by reference.
Reducer = CFUNCTYPE(None, c_void_p, c_void_p, c_int, c_int32)
Blocks = POINTER(c_int32)
ReduceScatter = CFUNCTYPE(None, c_void_p, c_int32, c_int, Blocks, Blocks, c_int, c_void_p, c_int32, POINTER(Reducer))
Allgather = CFUNCTYPE(None, c_void_p, c_int32, Blocks, Blocks, c_int, c_void_p, c_int32)


class Network:
    def __init__(self, name, rank, size, library="libespalier.so", timeout_ms=60000):
        """All processes of the job give the same name, which only one job at a time may use."""
        self.rank, self.size = rank, size
        self._espalier = ctypes.CDLL(library)
        self._espalier.espalier_error_text.restype = c_char_p
        self._comm = c_void_p()
        self._call("comm_meet", name.encode(), rank, size, timeout_ms, byref(self._comm))
        self._lightgbm = lightgbm.basic._LIB
        self._functions = ReduceScatter(_or_end(self._reduce_scatter)), Allgather(_or_end(self._allgather))
        arguments = [ctypes.cast(function, c_void_p) for function in self._functions]
        if self._lightgbm.LGBM_NetworkInitWithFunctions(size, rank, *arguments) != 0:
            raise RuntimeError("LightGBM refuses the network")

    def close(self):
        self._lightgbm.LGBM_NetworkFree()
        self._espalier.espalier_comm_free(self._comm)

    def _call(self, name, *arguments):
        if getattr(self._espalier, f"espalier_{name}")(*arguments) != 0:
            raise RuntimeError(f"espalier_{name}: {self._espalier.espalier_error_text().decode()}")

    def _allgather(self, send, length, starts, lengths, ranks, receive, _):
        if send == receive:  # LightGBM reduces into the first block of what it gathers then
            own = ctypes.create_string_buffer(ctypes.string_at(send, length), length)
            send = ctypes.addressof(own)
        self._call("allgatherv", self._comm, c_void_p(send), c_void_p(receive), *map(_sizes, (lengths[:ranks], starts[:ranks])))

    def _reduce_scatter(self, send, _, element, starts, lengths, ranks, receive, __, reducer):
        """Espalier does not know LightGBM's operators: each rank gets its block of all others, and reduces them in rank order."""
        length = lengths[self.rank]
        blocks = ctypes.create_string_buffer(max(1, ranks * length))
        offsets = [rank * length for rank in range(ranks)]
        sent, received = (lengths[:ranks], starts[:ranks]), ([length] * ranks, offsets)
        self._call("alltoallv", self._comm, c_void_p(send), *map(_sizes, sent), blocks, *map(_sizes, received))
        begin = ctypes.addressof(blocks)
        for offset in offsets[1:]:
            reducer[0](begin + offset, begin, element, length)
        ctypes.memmove(receive, begin, length)


def _sizes(values):
    return (c_size_t * len(values))(*values)


def _or_end(function):
    """LightGBM's functions return nothing, and it would go on with what is in the memory."""

    def call(*arguments):
        try:
            function(*arguments)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    return call
