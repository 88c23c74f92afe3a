"""Pi by mpi4py, unchanged: Espalier takes the allreduce over.

    espalier run -- mpirun -n 4 python examples/pi.py
"""

from mpi4py import MPI

STEPS = 1_000_000

world = MPI.COMM_WORLD
strips = range(world.rank, STEPS, world.size)
mine = sum(4 / (1 + ((i + 0.5) / STEPS) ** 2) for i in strips) / STEPS
pi = world.allreduce(mine)
if world.rank == 0:
    print(f"pi is about {pi:.12f}, by {world.size} ranks")
