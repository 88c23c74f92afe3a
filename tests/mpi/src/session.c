/* Sessions: no MPI_Init, no MPI_COMM_WORLD.
     session [lives: how often the last session ends and another begins; only MPICH can do that more than
   once] */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  int failed = 0, rank = 0, lives = argc > 1 ? atoi(argv[1]) : 1;
  for (int life = 0; life < lives;
       ++life) { /* everything must go away with the last session, and come again */
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int size;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "espalier.tests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int step = 0; step < 20; ++step) {
      long mine = rank + step, sum = -1, told = rank == step % size ? step : -1;
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
      failed |= sum != (long)size * step + (long)size * (size - 1) / 2;
      MPI_Bcast(&told, 1, MPI_LONG, step % size, comm);
      failed |= told != step;
      MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  if (failed) fprintf(stderr, "FAILED on rank %d\n", rank);
  if (rank == 0) printf("session: %d failed\n", failed);
  return failed;
#else
  printf("session: this MPI has no sessions; 0 failed\n");
  return 0;
#endif
}
