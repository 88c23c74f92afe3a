"""A Poisson problem with FEniCSx (dolfinx) on the unit square: finite elements and conjugate gradients, and nothing of
Espalier.

    mpirun.openmpi -n 4 /usr/bin/python3 poisson.py --cells 64
    espalier run -- mpirun.openmpi -n 4 /usr/bin/python3 poisson.py --cells 64 --solver petsc

Each iteration fetches the values of the ghosts, which belong to neighbours, and makes two dot products. By dolfinx's own
vectors the ghosts are an MPI_Ineighbor_alltoallv on a graph of neighbours, with --solver petsc likewise inside of PETSc
(-sf_type neighbor). The solution 1 + x^2 + 2 y^2 lies in the space of quadratic elements, so what is left is the
solver's error alone. (dolfinx 0.5, Debian 12's python3-dolfinx.)
"""

import argparse
import sys

import numpy as np
import ufl
from dolfinx import fem, la, mesh
from mpi4py import MPI

world = MPI.COMM_WORLD


def read_options():
    parser = argparse.ArgumentParser(description="Poisson's equation by finite elements and conjugate gradients")
    parser.add_argument("--cells", type=int, default=64, help="cells along each side")
    parser.add_argument("--solver", choices=["dolfinx", "petsc"], default="dolfinx", help="whose vectors and matrices")
    parser.add_argument("--tolerance", type=float, default=1e-10, help="of the residual, relative to the first")
    parser.add_argument("--solves", type=int, default=5, help="solve the same system so often; the time is the median")
    parser.add_argument("--history", help="file for the residual of every iteration, and the norm of the solution")
    return parser.parse_args()


class Problem:
    """The forms of the equation, and the values on the border."""

    def __init__(self, cells):
        self.square = mesh.create_unit_square(world, cells, cells)
        self.space = fem.FunctionSpace(self.square, ("CG", 2))
        self.exact = fem.Function(self.space)
        self.exact.interpolate(lambda x: 1 + x[0] ** 2 + 2 * x[1] ** 2)
        u, v = ufl.TrialFunction(self.space), ufl.TestFunction(self.space)
        self.stiffness = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
        self.left = fem.form(self.stiffness)
        self.right = fem.form(fem.Constant(self.square, -6.0) * v * ufl.dx)
        self.square.topology.create_connectivity(1, 2)
        border = mesh.exterior_facet_indices(self.square.topology)
        self.border = fem.dirichletbc(self.exact, fem.locate_dofs_topological(self.space, 1, border))
        self.owned = self.space.dofmap.index_map.size_local


class OwnSolver:
    """Conjugate gradients of Hestenes and Stiefel on dolfinx's vectors, without a matrix, as in its example in C++:
    a product is the right-hand side of a form that has the vector as a coefficient. Values on the border stay zero."""

    def __init__(self, problem):
        self.owned, self.border = problem.owned, problem.border
        self.direction = fem.Function(problem.space)
        self.action = fem.form(ufl.action(problem.stiffness, self.direction))
        self.product = la.vector(problem.space.dofmap.index_map)
        self.b = fem.assemble_vector(problem.right)
        fem.apply_lifting(self.b.array, [problem.left], [[problem.border]])
        self.add_up(self.b)
        self.mine, self.all = np.zeros(1), np.zeros(1)

    def add_up(self, vector):
        """What neighbours have for own values comes home."""
        vector.scatter_reverse(la.ScatterMode.add)
        fem.set_bc(vector.array, [self.border], scale=0.0)

    def multiply(self, d):
        self.direction.x.array[: self.owned] = d
        self.direction.x.scatter_forward()
        self.product.array[:] = 0
        fem.assemble_vector(self.product.array, self.action)
        self.add_up(self.product)
        return self.product.array[: self.owned]

    def dot(self, a, b):
        self.mine[0] = np.vdot(a, b)
        world.Allreduce(self.mine, self.all)
        return self.all[0]

    def solve(self, tolerance):
        """From u = 0, until |r| <= tolerance |b|. Gives the owned values of u and the residuals."""
        u, r = np.zeros(self.owned), self.b.array[: self.owned].copy()
        d = r.copy()
        square = first = self.dot(r, r)
        history = []
        while square > tolerance**2 * first:
            product = self.multiply(d)
            step = square / self.dot(d, product)
            u += step * d
            r -= step * product
            following = self.dot(r, r)
            d *= following / square
            d += r
            square = following
            history.append(np.sqrt(square))
        whole = la.vector(self.product.map)
        whole.array[: self.owned] = u
        fem.set_bc(whole.array, [self.border])
        return whole.array[: self.owned].copy(), history


class PetscSolver:
    """The same iteration in PETSc, which is told to fetch ghosts by a collective of neighbours."""

    def __init__(self, problem):
        from dolfinx.fem import petsc
        from petsc4py import PETSc

        settings = PETSc.Options()
        settings["sf_type"] = "neighbor"
        self.matrix = petsc.assemble_matrix(problem.left, [problem.border])
        self.matrix.assemble()
        self.b = petsc.assemble_vector(problem.right)
        petsc.apply_lifting(self.b, [problem.left], [[problem.border]])
        self.b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
        petsc.set_bc(self.b, [problem.border])
        self.solver = PETSc.KSP().create(world)
        self.solver.setOperators(self.matrix)
        self.solver.setType("cg")
        self.solver.getPC().setType("none")
        self.solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)

    def solve(self, tolerance):
        u = self.matrix.createVecRight()
        self.solver.setTolerances(rtol=tolerance, max_it=100000)
        self.solver.setConvergenceHistory(100000, reset=True)
        self.solver.solve(self.b, u)
        return u.array, list(self.solver.getConvergenceHistory()[1:])


def largest(value):
    """Of all ranks."""
    mine, found = np.array([value], float), np.zeros(1)
    world.Allreduce(mine, found, op=MPI.MAX)
    return found[0]


def main():
    options = read_options()
    problem = Problem(options.cells)
    solver = (OwnSolver if options.solver == "dolfinx" else PetscSolver)(problem)
    times = []
    for _ in range(options.solves):
        world.Barrier()
        begin = MPI.Wtime()
        u, history = solver.solve(options.tolerance)
        times.append(largest(MPI.Wtime() - begin))
    wanted = problem.exact.x.array[: problem.owned]
    error = largest(np.abs(u - wanted).max(initial=0)) / 4  # 4 is the largest value
    square = world.allreduce(np.vdot(u, u))
    # The matrix has a condition of about (2 cells)^2; an error beyond that times the tolerance is a mistake.
    right = error <= (10 + 4 * options.cells**2) * options.tolerance
    if world.rank == 0:
        print(
            f"poisson: ranks {world.size}, cells {options.cells}, {options.solver}, iterations {len(history)}, "
            f"seconds {np.median(times):.6f}, norm {np.sqrt(square):.12g}, error {error:.1e}, {'right' if right else 'WRONG'}"
        )
        if options.history:
            with open(options.history, "w") as file:
                file.writelines(f"{value:.17e}\n" for value in [*history, np.sqrt(square)])
    sys.exit(0 if right else 1)


main()
