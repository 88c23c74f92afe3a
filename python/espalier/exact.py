"""Sums of numpy arrays without rounding: of one process's, and over the ranks of an mpi4py communicator.

    from espalier import exact

    exact.sum(array)                    # of this process's array
    exact.sum(array, MPI.COMM_WORLD)    # of all ranks' arrays: the same bits however they are divided

    total = exact.Sum(array.dtype)      # piece by piece
    total.add(array)
    total.allreduce(MPI.COMM_WORLD)
    total.value

Arrays are of float32, float64, complex64 or complex128, of any shape; other real numbers are converted to float64. Results
are numpy scalars of the array's type. include/espalier/espalier_exact.h says what happens to NaN, infinities and zeros.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Optional

import numpy

from espalier.install import library

__all__ = ["Sum", "sum"]

WORDS = 74  # espalier_exact.h
_TYPES = {"float32": 8, "float64": 9, "complex64": 11, "complex128": 12}  # espalier_type
_PIECE = 1 << 20  # elements of an array without order that are copied at a time


@cache
def _functions() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library("libespalier.so")))
    loaded.espalier_exact_add.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    loaded.espalier_exact_normalise.argtypes = [ctypes.c_void_p]
    loaded.espalier_exact_merge.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    for name, result in (("double", ctypes.c_double), ("float", ctypes.c_float)):
        function = getattr(loaded, f"espalier_exact_{name}")
        function.argtypes, function.restype = [ctypes.c_void_p], result
    return loaded


class Sum:
    """A sum that has not been rounded. `words` may be copied, pickled and sent, and is all there is to it."""

    def __init__(self, dtype: Any = numpy.float64) -> None:
        self.dtype = numpy.dtype(dtype)
        if self.dtype.name not in _TYPES:
            raise TypeError(f"exact sums are of {', '.join(_TYPES)}, not of {self.dtype.name}")
        self._single = self.dtype.name in ("float32", "complex64")
        parts = 2 if self.dtype.kind == "c" else 1
        self.words = numpy.zeros((parts, WORDS), numpy.int64)

    def add(self, array: Any) -> Sum:
        """All elements of an array, or a number."""
        values = numpy.asarray(array)
        if values.dtype != self.dtype:
            if not numpy.can_cast(values.dtype, self.dtype, "safe"):
                raise TypeError(f"{values.dtype.name} does not fit into a sum of {self.dtype.name}")
            values = values.astype(self.dtype)
        if values.flags.c_contiguous or values.flags.f_contiguous:
            self._add(values)
        else:
            iterator = numpy.nditer(values, ["external_loop", "buffered", "zerosize_ok"], order="K", buffersize=_PIECE)
            for piece in iterator:
                self._add(numpy.asarray(piece))
        return self

    def _add(self, values: numpy.ndarray) -> None:
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if not (values.flags.c_contiguous or values.flags.f_contiguous):
            values = values.copy()
        code = _functions().espalier_exact_add(self.words.ctypes.data, values.ctypes.data, values.size, _TYPES[self.dtype.name])
        assert code == 0, code

    def merge(self, other: Sum) -> Sum:
        """All that has been added to another sum."""
        if other.words.shape != self.words.shape:
            raise TypeError("one sum is of complex numbers, the other is not")
        for mine, theirs in zip(self.words, other.words):
            _functions().espalier_exact_merge(mine.ctypes.data, theirs.ctypes.data)
        return self

    def _normalise(self) -> None:
        for part in self.words:
            _functions().espalier_exact_normalise(part.ctypes.data)

    def allreduce(self, comm: Any) -> Sum:
        """Collective over an mpi4py communicator: becomes the sum of all ranks' sums, on all of them. One allreduce of
        592 bytes (complex: 1184) of integers."""
        self._normalise()
        everything = numpy.empty_like(self.words)
        comm.Allreduce(self.words, everything)  # MPI.SUM of 64-bit integers
        self.words = everything
        self._normalise()
        return self

    @property
    def value(self) -> Any:
        """Rounded once, to nearest, ties to even."""
        functions = _functions()
        rounded = functions.espalier_exact_float if self._single else functions.espalier_exact_double
        parts = [rounded(part.ctypes.data) for part in self.words]
        if len(parts) == 1:
            return self.dtype.type(parts[0])
        return numpy.array(parts, numpy.float32 if self._single else numpy.float64).view(self.dtype)[0]


def sum(array: Any, comm: Optional[Any] = None) -> Any:
    """The sum of all elements, rounded once; with `comm`, an mpi4py communicator, of all its ranks' arrays. Ranks may bring
    arrays of different lengths, also empty ones; all of one type."""
    values = numpy.asarray(array)
    total = Sum(values.dtype if values.dtype.name in _TYPES else numpy.float64).add(values)
    return (total.allreduce(comm) if comm is not None else total).value
