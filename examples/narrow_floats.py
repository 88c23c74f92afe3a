"""numpy arrays of float16 and bfloat16 added over the ranks of an mpi4py program. MPI has no types for them; the library that
`espalier run` preloads has the C API, and that has.

    pip install ml_dtypes        # bfloat16 of numpy; without it float16 alone
    espalier run -- mpirun -n 4 python examples/narrow_floats.py
"""

import ctypes

import numpy as np
from mpi4py import MPI

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None

TYPES = {np.dtype(np.float32): 8, np.dtype(np.float16): 17}  # espalier_type of espalier.h
if bfloat16:
    TYPES[np.dtype(bfloat16)] = 18
OPERATORS = {"max": 0, "min": 1, "sum": 2, "prod": 3}  # espalier_op


class World:
    """MPI_COMM_WORLD of the C API."""

    def __init__(self):
        self._library = ctypes.CDLL(None)  # what is preloaded
        if not hasattr(self._library, "espalier_comm_world"):
            raise SystemExit("narrow_floats: start it by `espalier run`")
        self._library.espalier_error_text.restype = ctypes.c_char_p
        self._in_place = ctypes.c_void_p.in_dll(self._library, "ESPALIER_IN_PLACE")
        self._comm = ctypes.c_void_p()
        self._check(self._library.espalier_comm_world(ctypes.byref(self._comm)))

    def allreduce(self, array, operator="sum"):
        """In place; the array is contiguous."""
        assert array.flags.c_contiguous
        data, count = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.size)
        code = self._library.espalier_allreduce(
            self._comm, self._in_place, data, count, TYPES[array.dtype], OPERATORS[operator]
        )
        self._check(code)

    def free(self):
        self._library.espalier_comm_free(self._comm)

    def _check(self, code):
        if code != 0:
            raise RuntimeError(self._library.espalier_error_text().decode())


def main():
    mpi = MPI.COMM_WORLD
    world = World()
    for dtype in TYPES:
        # So small that sums over up to 128 ranks are exact, in whatever order they are made.
        parts = [np.random.default_rng(rank).integers(-2, 3, 100_000).astype(dtype) for rank in range(mpi.size)]
        total = parts[mpi.rank].copy()
        world.allreduce(total)
        expected = sum(part.astype(np.float32) for part in parts).astype(dtype)
        right = mpi.allreduce(bool((total == expected).all()), MPI.LAND)
        if mpi.rank == 0:
            print(f"narrow_floats: {dtype}, ranks {mpi.size}: {'right' if right else 'WRONG'}", flush=True)
        if not right:
            raise SystemExit(1)
    world.free()


main()
