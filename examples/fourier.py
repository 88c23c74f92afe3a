"""A real 3-D Fourier transform there and back, by mpi4py-fft: mpi4py and numpy, and nothing of Espalier.

    mpirun -n 4 python fourier.py --grid 64 --pencils
    espalier run -- mpirun -n 4 python fourier.py --grid 64 --pencils

mpi4py-fft transforms along the axes that a rank has whole and redistributes the array in between: one MPI_Alltoallw of
subarrays for slabs, two for pencils. The spectrum is compared with numpy's of the whole field and by Parseval's theorem,
and the way back with the field. No sum over ranks is in the transforms, so nothing may change a single bit of them.
"""

import argparse
import hashlib
import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

world = MPI.COMM_WORLD
ROUNDING = 1e-12  # of a transform, relative to its largest value


def read_options():
    parser = argparse.ArgumentParser(description="Real 3-D Fourier transforms there and back")
    parser.add_argument("--grid", type=int, default=64, help="points in each direction")
    parser.add_argument("--pencils", action="store_true", help="cut along two axes instead of one")
    parser.add_argument("--moves-only", action="store_true", help="time the redistributions without the transforms")
    parser.add_argument("--times", type=int, default=20, help="there and back so often; the time is the median")
    parser.add_argument("--history", help="file for numbers that stand for every bit of spectrum and field")
    return parser.parse_args()


def there_and_back(plan, field):
    """What is to be timed, and its results: the spectrum and the field again."""
    spectrum, again = newDistArray(plan, True), newDistArray(plan, False)

    def step():
        plan.forward(field, spectrum)
        plan.backward(spectrum, again)

    return step, spectrum, again


def moves(plan):
    """The redistributions of a transform there and back, each into arrays of its own; the last arrays on either side."""
    chance = np.random.default_rng(world.rank)
    stages = [
        (move, chance.random(move.subshapeA).astype(move.dtype), np.zeros(move.subshapeB, move.dtype),
         np.zeros(move.subshapeA, move.dtype))
        for move in plan.transfer
    ]

    def step():
        for move, begin, there, _ in stages:
            move.forward(begin, there)
        for move, _, there, back in reversed(stages):
            move.backward(there, back)

    return step, stages


def time_of(step, times):
    """The median of the slowest rank's seconds."""
    mine, slowest = np.zeros(times), np.zeros(times)
    for number in range(times):
        world.Barrier()
        begin = MPI.Wtime()
        step()
        mine[number] = MPI.Wtime() - begin
    world.Allreduce(mine, slowest, op=MPI.MAX)
    return float(np.median(slowest))


def largest(value):
    """Of all ranks."""
    mine, found = np.array([value], float), np.zeros(1)
    world.Allreduce(mine, found, op=MPI.MAX)
    return found[0]


def total_square(part, weights=1.0):
    mine, found = np.array([np.sum(weights * np.abs(part) ** 2)]), np.zeros(1)
    world.Allreduce(mine, found)
    return found[0]


def errors(plan, grid, whole, field, spectrum, again):
    """Of the spectrum, the way back, and Parseval's theorem. A real field's spectrum has half of the last axis: each
    coefficient but those of its first and its middle plane stands for two."""
    mine = plan.local_slice(True)
    wanted = np.fft.rfftn(whole)[mine] / grid**3
    planes = np.arange(mine[2].start, mine[2].stop)
    weights = np.where((planes == 0) | (2 * planes == grid), 1, 2)
    square = total_square(field) / grid**3
    return (
        largest(np.abs(spectrum - wanted).max(initial=0)) / largest(np.abs(wanted).max(initial=0)),
        largest(np.abs(again - field).max(initial=0)),
        abs(total_square(spectrum, weights) - square) / square,
    )


def fingerprint(arrays):
    """Numbers that change with any bit of any rank's arrays: as many as a double holds exactly."""
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).digest()
    return np.frombuffer(digest[:24], np.uint32).astype(float)


def run(options):
    """The seconds, the errors, and the arrays that are to be the same in every run."""
    cut = {} if options.pencils else {"slab": True}
    # FFTW's own measurements may end in another plan in another run, which would round in another way.
    plan = PFFT(world, [options.grid] * 3, dtype=float, planner_effort="FFTW_ESTIMATE", **cut)
    if options.moves_only:
        step, stages = moves(plan)
        seconds = time_of(step, options.times)
        wrong = largest(any((begin != back).any() for _, begin, _, back in stages))
        return seconds, (wrong, wrong, wrong), [there for _, _, there, _ in stages]
    whole = np.random.default_rng(1).random([options.grid] * 3)
    field = newDistArray(plan, False)
    field[:] = whole[plan.local_slice(False)]
    step, spectrum, again = there_and_back(plan, field)
    seconds = time_of(step, options.times)
    return seconds, errors(plan, options.grid, whole, field, spectrum, again), [spectrum, again]


def main():
    options = read_options()
    seconds, found, arrays = run(options)
    mine = fingerprint(arrays)
    prints = np.zeros(world.size * mine.size)
    world.Allgather(mine, prints)
    right = max(found) <= ROUNDING
    if world.rank == 0:
        print(
            f"fourier: ranks {world.size}, grid {options.grid}, {'pencils' if options.pencils else 'slabs'}, "
            f"seconds {seconds:.6f}, spectrum {found[0]:.1e}, back {found[1]:.1e}, Parseval {found[2]:.1e}, "
            f"{'right' if right else 'WRONG'}"
        )
        if options.history:
            with open(options.history, "w") as file:
                file.writelines(f"{value:.0f}\n" for value in prints)
    sys.exit(0 if right else 1)


main()
