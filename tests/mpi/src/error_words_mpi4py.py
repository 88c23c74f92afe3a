"""What mpi4py's exception says of ranks that disagree."""
from mpi4py import MPI
import array
import sys

comm = MPI.COMM_WORLD.Dup()
comm.Set_errhandler(MPI.ERRORS_RETURN)
given = array.array("i", [0] * (4 + comm.rank))
try:
    comm.Allreduce(given, array.array("i", given), MPI.SUM)
    comm.Barrier()
except MPI.Exception as error:
    # One write: with PYTHONUNBUFFERED, print() writes the end of the line apart, behind another rank's words.
    sys.stdout.write(f"rank {comm.rank}: {error.error_class == MPI.ERR_OTHER}: {error.error_string}\n")
    sys.stdout.flush()
comm.Free()
