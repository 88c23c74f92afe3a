"""Sums of a distributed array that do not depend on how it is divided: espalier.exact over mpi4py."""

from fractions import Fraction

import numpy
from espalier import exact
from mpi4py import MPI

comm = MPI.COMM_WORLD
random = numpy.random.default_rng(3)
whole = numpy.ldexp(random.uniform(-1, 1, 20_000), random.integers(-300, 300, 20_000))
right = float(sum(Fraction(float(value)) for value in whole))
for seed in range(4):  # divided at random, with empty parts
    cuts = numpy.sort(numpy.random.default_rng(seed).integers(0, whole.size + 1, comm.size - 1))
    mine = numpy.split(whole, cuts)[comm.rank]
    assert exact.sum(mine, comm) == right
    pair = exact.sum(mine - 2j * mine, comm)
    assert pair == complex(right, -2 * right)
if comm.rank == 0:
    print("exact arrays: the same sum for every division")
