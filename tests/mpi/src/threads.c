/* MPI_THREAD_MULTIPLE: two threads per rank, each with its own communicator, call collectives at the same
 * time. */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>

struct work {
  MPI_Comm comm;
  int seed, failed;
};

static void* run(void* argument) {
  struct work* work = argument;
  int rank, size;
  MPI_Comm_rank(work->comm, &rank);
  MPI_Comm_size(work->comm, &size);
  enum { many = 3000 };
  double numbers[many], sums[many];
  for (int step = 0; step < 150; ++step) {
    int count = step % 10 ? 1 + step % 4 : many, root = (step + work->seed) % size;
    for (int i = 0; i < count; ++i) numbers[i] = rank + i + work->seed + step;
    MPI_Allreduce(numbers, sums, count, MPI_DOUBLE, MPI_SUM, work->comm);
    for (int i = 0; i < count; ++i)
      work->failed |= sums[i] != (double)size * (i + work->seed + step) + size * (size - 1) / 2;
    int told = rank == root ? step + work->seed : -1;
    MPI_Bcast(&told, 1, MPI_INT, root, work->comm);
    work->failed |= told != step + work->seed;
    if (step % 20 == 0) MPI_Barrier(work->comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, rank, failed;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("threads: this MPI gives level %d only; 0 failed\n", provided);
    MPI_Finalize();
    return 0;
  }
  struct work one = {MPI_COMM_NULL, 1, 0}, other = {MPI_COMM_NULL, 1000, 0};
  MPI_Comm_dup(MPI_COMM_WORLD, &one.comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other.comm);
  pthread_t thread;
  pthread_create(&thread, NULL, run, &other);
  run(&one);
  pthread_join(thread, NULL);
  failed = one.failed | other.failed;
  MPI_Comm_free(&one.comm);
  MPI_Comm_free(&other.comm);
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("threads: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
