"""The solver of cg.c in Python: mpi4py and numpy, and nothing of Espalier.

    mpirun -n 4 python cg.py --grid 128
    espalier run -- mpirun -n 4 python cg.py --grid 128

Each rank has whole rows of the grid; an iteration exchanges edge rows with the neighbours and makes two dot
products, each an Allreduce of one double. The exact solution is a cubic in x and in y, for which the five-point
formula has no error, so what is left is the solver's error alone.
"""

import argparse
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD


def read_options():
    parser = argparse.ArgumentParser(description="Conjugate gradients on a 2-D Poisson problem")
    parser.add_argument("--grid", type=int, default=128, help="inner points in each direction")
    parser.add_argument("--tolerance", type=float, default=1e-10, help="of the residual, relative to the right-hand side")
    parser.add_argument("--iterations", type=int, default=100000, help="at most so many")
    parser.add_argument("--solves", type=int, default=1, help="solve the same system so often")
    parser.add_argument("--history", help="file for the residual of every iteration")
    return parser.parse_args()


class Strip:
    """The rows of this rank. Vectors have a row more above and below for the neighbours' edges, which stays zero
    at the border of the square."""

    def __init__(self, grid):
        if world.size > grid:
            raise SystemExit(f"cg: --grid {grid}: fewer rows than the {world.size} ranks")
        self.grid = grid
        self.first = grid * world.rank // world.size
        self.rows = grid * (world.rank + 1) // world.size - self.first
        self.above = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
        self.below = world.rank + 1 if world.rank + 1 < world.size else MPI.PROC_NULL
        self.mine, self.all = np.zeros(1), np.zeros(1)

    def vector(self):
        return np.zeros((self.rows + 2, self.grid))

    def places(self):
        """x of every own row as a column, y of every point of a row."""
        h = 1 / (self.grid + 1)
        rows = np.arange(self.first + 1, self.first + self.rows + 1)
        return (h * rows)[:, None], h * np.arange(1, self.grid + 1)

    def dot(self, a, b):
        self.mine[0] = np.vdot(a[1:-1], b[1:-1])
        world.Allreduce(self.mine, self.all, op=MPI.SUM)
        return self.all[0]

    def exchange_edges(self, v):
        requests = [world.Irecv(v[0], self.above, 1), world.Irecv(v[-1], self.below, 2)]
        requests += [world.Isend(v[1], self.above, 2), world.Isend(v[-2], self.below, 1)]
        MPI.Request.Waitall(requests)

    def multiply(self, v, out):
        self.exchange_edges(v)
        inner = out[1:-1]
        np.multiply(v[1:-1], 4, out=inner)
        inner -= v[:-2]
        inner -= v[2:]
        inner[:, 1:] -= v[1:-1, :-1]
        inner[:, :-1] -= v[1:-1, 1:]


def exact(x, y):
    return x * (1 - x) * (1 + x) * (y * (1 - y) * (2 - y))


def right_side(strip):
    """-(u_xx + u_yy) times the square of the mesh width."""
    x, y = strip.places()
    b = strip.vector()
    bent = -6 * x * (y * (1 - y) * (2 - y)) + x * (1 - x) * (1 + x) * (6 * y - 6)
    b[1:-1] = -bent / (strip.grid + 1) ** 2
    return b


def solve(strip, b, tolerance, most_iterations):
    """Hestenes and Stiefel's iteration from u = 0, until |r| <= tolerance |b|. Gives u and the residuals."""
    u, product = strip.vector(), strip.vector()
    r, d = b.copy(), b.copy()
    square = first = strip.dot(r, r)
    history = []
    while square > tolerance**2 * first and len(history) < most_iterations:
        strip.multiply(d, product)
        step = square / strip.dot(d, product)
        u += step * d
        # The edge rows of the product are never written, so those of r stay zero.
        r -= step * product
        following = strip.dot(r, r)
        d *= following / square
        d += r
        square = following
        history.append(np.sqrt(square / first))
    return u, history


def true_residual(strip, b, u):
    """|b - A u| / |b|, from u itself."""
    rest = strip.vector()
    strip.multiply(u, rest)
    rest -= b
    return np.sqrt(strip.dot(rest, rest) / strip.dot(b, b))


def true_error(strip, u):
    """The largest difference to the exact solution, relative to its largest value."""
    wanted = exact(*strip.places())
    mine, worst = np.array([np.abs(u[1:-1] - wanted).max(), wanted.max()]), np.zeros(2)
    world.Allreduce(mine, worst, op=MPI.MAX)
    return worst[0] / worst[1]


def main():
    options = read_options()
    strip = Strip(options.grid)
    b = right_side(strip)
    world.Barrier()
    begin = MPI.Wtime()
    for _ in range(options.solves):
        u, history = solve(strip, b, options.tolerance, options.iterations)
    seconds = world.reduce(MPI.Wtime() - begin, op=MPI.MAX)
    residual, error = true_residual(strip, b, u), true_error(strip, u)
    # The matrix has a condition of about (grid / 2)^2; an error beyond that times the tolerance is a mistake.
    right = residual <= 10 * options.tolerance and error <= (10 + options.grid**2) * options.tolerance
    if world.rank == 0:
        print(
            f"cg: ranks {world.size}, grid {options.grid}, iterations {len(history)}, seconds {seconds:.6f}, "
            f"residual {residual:.3e}, error {error:.3e}, {'right' if right else 'WRONG'}"
        )
        if options.history:
            with open(options.history, "w") as file:
                file.writelines(f"{value:.17e}\n" for value in history)
    sys.exit(0 if right else 1)


main()
