"""Reductions at a level of ESPALIER_REPRODUCIBLE, against what the level promises, bit for bit.

    reproducible.py LEVEL [LENGTH...]

`placement`: folded in rank order, from left to right. `exact`: sums in rational arithmetic, rounded once. Each rank knows the
operands of all. Rank 0 prints how many results were right, and what they hash to, which is the same for any placement.
"""

import hashlib
import math
import sys
from fractions import Fraction

import numpy
from mpi4py import MPI

LEVEL = sys.argv[1]
LENGTHS = [int(text) for text in sys.argv[2:]] or [1, 3, 100, 9001]
FRACTIONS_UP_TO = 400  # elements of a vector; longer ones are of ordinary numbers, of which math.fsum is exact
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
passed = 0
digest = hashlib.sha256()


def to_float(exact, dtype):
    """To nearest, ties to even."""
    try:
        with numpy.errstate(over="ignore"):
            near = dtype(float(exact))
    except OverflowError:
        near = dtype(math.inf) if exact > 0 else dtype(-math.inf)
    if dtype is numpy.float64:
        return near
    # Rounded twice: one of the neighbours may be nearer.
    with numpy.errstate(over="ignore"):
        beside = [numpy.nextafter(near, dtype(way)) for way in (-math.inf, math.inf)]
    beyond = 2 * Fraction(2) ** (numpy.finfo(dtype).maxexp - 1)  # what an infinity stands for

    def badness(x):
        worth = Fraction(float(x)) if numpy.isfinite(x) else beyond if x > 0 else -beyond
        return abs(worth - exact), int(x.view(numpy.uint32)) & 1

    return min([near, *beside], key=badness)


def exact_sum(operands, dtype):
    if numpy.isnan(operands).any() or (math.inf in operands and -math.inf in operands):
        return dtype(math.nan)
    for infinity in (math.inf, -math.inf):
        if infinity in operands:
            return dtype(infinity)
    total = sum(Fraction(float(x)) for x in operands)
    if total == 0:
        return dtype(-0.0) if all(numpy.signbit(operands)) else dtype(0)
    return to_float(total, dtype)


def exact_fold(vectors):
    """By element, over ranks."""
    if numpy.iscomplexobj(vectors):
        result = numpy.empty(vectors.shape[1], vectors.dtype)
        result.real, result.imag = exact_fold(vectors.real), exact_fold(vectors.imag)
        return result
    dtype = vectors.dtype.type
    if vectors.shape[1] > FRACTIONS_UP_TO:
        assert dtype is numpy.float64
        return numpy.array([math.fsum(column) for column in vectors.T])
    return numpy.array([exact_sum(column, dtype) for column in vectors.T], dtype)


def fold(vectors, op):
    if len(vectors) == 1:
        return vectors[0].copy()
    if op is MPI.SUM and LEVEL == "exact":
        return exact_fold(vectors)
    result = vectors[0].copy()
    with numpy.errstate(all="ignore"):
        for vector in vectors[1:]:
            result = result + vector if op is MPI.SUM else result * vector if op is MPI.PROD else numpy.maximum(result, vector)
    return result


def real_operands(random, length, dtype):
    """Of all sizes, which cancel; of one size; near to ties; special values; zeros: one kind after the other."""
    info = numpy.finfo(dtype)
    vectors = random.uniform(-1, 1, (size, length))
    if length > FRACTIONS_UP_TO:
        return (vectors * 2.0 ** random.integers(-60, 60, (size, length))).astype(dtype)
    lowest = int(info.minexp - info.nmant)
    with numpy.errstate(all="ignore"):
        for i in range(length):
            kind = i % 6
            if kind == 0:
                vectors[:, i] = numpy.ldexp(vectors[:, i], random.integers(lowest, info.maxexp, size))
            elif kind == 1 and size > 1:
                vectors[size // 2:size // 2 * 2, i] = -vectors[:size // 2, i] * 2.0 ** 100
                vectors[:size // 2, i] *= 2.0 ** 100
                vectors[-1, i] = 2.0 ** lowest
            elif kind == 2:
                vectors[:, i] = 0
                vectors[0, i], vectors[-1, i] = 1, float(info.eps) / 2
                vectors[size // 2, i] += random.choice([0, 2.0 ** -120, -(2.0 ** -120)])
            elif kind == 3:
                vectors[:, i] = random.choice([float(info.max), -float(info.max), 1.0], size)
            elif kind == 4:
                vectors[:, i] = random.choice([1.0, 2.0 ** -30, math.inf, -math.inf, math.nan], size, p=[.5, .4, .04, .03, .03])
            else:
                vectors[:, i] = random.choice([-0.0, 0.0], size, p=[.8, .2])
        return vectors.astype(dtype)


def operands(random, length, dtype):
    if dtype is numpy.complex128:
        vectors = numpy.empty((size, length), dtype)
        vectors.real, vectors.imag = real_operands(random, length, numpy.float64), real_operands(random, length, numpy.float64)
        return vectors
    return real_operands(random, length, dtype)


def check(what, result, right):
    """Bit for bit, but for the sign and payload of NaN."""
    global passed
    if result.tobytes() != right.tobytes():
        parts = [(result.real, right.real), (result.imag, right.imag)] if numpy.iscomplexobj(right) else [(result, right)]
        for mine, theirs in parts:
            bits = numpy.dtype(f"u{mine.dtype.itemsize}")
            mine, theirs = numpy.ascontiguousarray(mine), numpy.ascontiguousarray(theirs)
            wrong = (mine.view(bits) != theirs.view(bits)) & ~(numpy.isnan(mine) & numpy.isnan(theirs))
            if wrong.any():
                i = int(numpy.flatnonzero(wrong)[0])
                print(f"rank {rank} of {size}: {what}: element {i} is {result[i]!r}, not {right[i]!r}", flush=True)
                comm.Abort(1)
    passed += 1
    if what.startswith("allreduce"):  # what all ranks have, in a form that every host has
        clean = result.copy()
        clean[numpy.isnan(clean)] = 0
        digest.update(clean.tobytes())


def counts_of(length):
    """Blocks of different lengths, some of them empty."""
    edges = [length * (i * i) // (size * size) for i in range(size + 1)]
    return [after - before for before, after in zip(edges, edges[1:])], edges[rank]


def forms(name, send, receive, *more):
    """A collective started in every way there is; each leaves its result in `receive`."""
    def blocking():
        getattr(comm, name)(send, receive, *more)

    def nonblocking():
        getattr(comm, "I" + name.lower())(send, receive, *more).Wait()

    def persistent():
        request = getattr(comm, name + "_init")(send, receive, *more)
        for _ in range(2):
            request.Start()
            request.Wait()
        request.Free()

    ways = [("", blocking), ("nonblocking ", nonblocking)]
    if MPI.VERSION >= 4:
        ways.append(("persistent ", persistent))
    return ways


def try_forms(name, what, send, receive, right, *more):
    for form, run in forms(name, send, receive, *more):
        receive[...] = 77
        try:
            run()
        except NotImplementedError:
            continue
        check(f"{form}{name.lower()} of {what}", receive, right)


def try_all(vectors, op, what):
    mine, length, dtype = vectors[rank].copy(), vectors.shape[1], vectors.dtype
    whole = fold(vectors, op)
    result = numpy.empty(length, dtype)
    try_forms("Allreduce", what, mine, result, whole, op)
    in_place = mine.copy()
    comm.Allreduce(MPI.IN_PLACE, in_place, op)
    check(f"allreduce in place of {what}", in_place, whole)
    root = size - 1
    target = result if rank == root else None
    for form, run in forms("Reduce", mine, target, op, root):
        result[...] = 77
        try:
            run()
        except NotImplementedError:
            continue
        if rank == root:
            check(f"{form}reduce of {what}", result, whole)
    try_forms("Scan", what, mine, result, fold(vectors[:rank + 1], op), op)
    below = fold(vectors[:rank], op) if rank > 0 else numpy.full(length, 77, dtype)
    try_forms("Exscan", what, mine, result, below, op)
    counts, first = counts_of(length)
    block = numpy.empty(counts[rank], dtype)
    try_forms("Reduce_scatter", what, mine, block, whole[first:first + counts[rank]], counts, op)
    each = length // size
    if each:
        block = numpy.empty(each, dtype)
        even = whole[rank * each:(rank + 1) * each]
        try_forms("Reduce_scatter_block", what, mine[:each * size].copy(), block, even, op)


def first_call_is_nonblocking():
    """On a communicator whose ranks have not met."""
    fresh = comm.Dup()
    result = numpy.empty(2)
    operands = numpy.array([[1e300, -0.0], [1.0, -0.0], [-1e300, -0.0]] + [[0.0, -0.0]] * size)[:max(size, 2)]
    fresh.Iallreduce(operands[rank].copy(), result, MPI.SUM).Wait()
    if size > 2:
        check("the first sum on a communicator", result, fold(operands[:size], MPI.SUM))
    fresh.Free()


first_call_is_nonblocking()
for number, length in enumerate(LENGTHS):
    for dtype in (numpy.float64, numpy.float32, numpy.complex128):
        if length > FRACTIONS_UP_TO and dtype is numpy.float32 and LEVEL == "exact":
            continue
        random = numpy.random.default_rng(1000 * number + 7)
        vectors = operands(random, length, dtype)
        try_all(vectors, MPI.SUM, f"{length} sums of {dtype.__name__}")
        if dtype is numpy.float64 and length <= FRACTIONS_UP_TO:
            try_all(numpy.where(numpy.isfinite(vectors), vectors, 1), MPI.PROD, f"{length} products")

total = numpy.zeros(1, numpy.int64)
comm.Allreduce(numpy.array([passed], numpy.int64), total)
if rank == 0:
    print(f"reproducible: {total[0]} results are right, {digest.hexdigest()[:16]}")
