/* An intercommunicator between the odd and the even ranks of one job (no spawn, so every MPI can run it). */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int odd = rank % 2, others = odd ? (size + 1) / 2 : size / 2;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 3, &inter);
  for (int round = 0; round < 20; ++round) {
    long mine = odd ? 1000 : 1, sum = -1, inner = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, inter);
    failed |= sum != others * (odd ? 1L : 1000L);
    MPI_Allreduce(&mine, &inner, 1, MPI_LONG, MPI_SUM, half);
    failed |= inner != (size - others) * mine;
    MPI_Barrier(inter);
    long told = odd ? -1 : round;
    int local;
    MPI_Comm_rank(inter, &local);
    MPI_Bcast(&told, 1, MPI_LONG, odd ? 0 : (local == 0 ? MPI_ROOT : MPI_PROC_NULL), inter);
    failed |= told != round;
    /* Blocks of the other half; the arrays are as long as it. */
    long heard[64], counts_sum = 0;
    int counts[64], places[64], none[64] = {0};
    MPI_Allgather(&mine, 1, MPI_LONG, heard, 1, MPI_LONG, inter);
    for (int i = 0; i < others; ++i) failed |= heard[i] != (odd ? 1 : 1000);
    for (int i = 0; i < others; ++i) counts[i] = 1, places[i] = others - 1 - i, heard[i] = -1;
    MPI_Allgatherv(&mine, 1, MPI_LONG, heard, counts, places, MPI_LONG, inter);
    for (int i = 0; i < others; ++i) counts_sum += heard[i];
    failed |= counts_sum != sum;
    MPI_Alltoallv(NULL, none, none, MPI_LONG, heard, none, none, MPI_LONG, inter);
    MPI_Gather(&mine, 1, MPI_LONG, heard, 1, MPI_LONG, odd ? 0 : (local == 0 ? MPI_ROOT : MPI_PROC_NULL),
               inter);
    if (!odd && local == 0)
      for (int i = 0; i < others; ++i) failed |= heard[i] != 1000;
    MPI_Scan(&mine, &inner, 1, MPI_LONG, MPI_SUM, half);
    failed |= inner != (rank / 2 + 1) * mine;
    MPI_Barrier(half);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  if (failed) fprintf(stderr, "FAILED on rank %d\n", rank);
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("intercomm: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
