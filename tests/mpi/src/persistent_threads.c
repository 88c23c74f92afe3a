/* MPI_THREAD_MULTIPLE: two threads per rank, each with its own communicator and its own persistent
   collectives, which both prepare, start, complete and free at the same time. */
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { longest = 3000, requests_of_a_thread = 3, lives = 6, rounds = 25 };

struct work {
  MPI_Comm comm;
  int seed, rank, size, failed;
  double numbers[longest], sums[longest];
  long told[50];
};

static void fill(struct work* work, int count, int root, int round) {
  for (int i = 0; i < count; ++i) work->numbers[i] = work->rank + i + work->seed + round;
  for (int i = 0; i < 50; ++i) work->told[i] = work->rank == root ? work->seed * round + i : -1;
}

static void check(struct work* work, int count, int round) {
  for (int i = 0; i < count; ++i)
    work->failed |=
        work->sums[i] != (double)work->size * (i + work->seed + round) + work->size * (work->size - 1) / 2;
  for (int i = 0; i < 50; ++i) work->failed |= work->told[i] != work->seed * round + i;
}

static void complete(MPI_Request* requests, int round) {
  int flag = 0, index = 0;
  if (round % 3 == 0) MPI_Waitall(requests_of_a_thread, requests, MPI_STATUSES_IGNORE);
  while (round % 3 == 1 && index != MPI_UNDEFINED)
    MPI_Waitany(requests_of_a_thread, requests, &index, MPI_STATUS_IGNORE);
  for (int k = 0; round % 3 == 2 && k < requests_of_a_thread; ++k)
    for (flag = 0; !flag; sched_yield()) MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE);
}

static void live(struct work* work, int count, int root) {
  MPI_Request requests[requests_of_a_thread];
  MPI_Allreduce_init(work->numbers, work->sums, count, MPI_DOUBLE, MPI_SUM, work->comm, MPI_INFO_NULL,
                     &requests[0]);
  MPI_Bcast_init(work->told, 50, MPI_LONG, root, work->comm, MPI_INFO_NULL, &requests[1]);
  MPI_Barrier_init(work->comm, MPI_INFO_NULL, &requests[2]);
  for (int round = 0; round < rounds; ++round) {
    fill(work, count, root, round);
    MPI_Startall(requests_of_a_thread, requests);
    complete(requests, round);
    check(work, count, round);
  }
  for (int k = 0; k < requests_of_a_thread; ++k) MPI_Request_free(&requests[k]);
}

static void* run(void* argument) {
  struct work* work = argument;
  MPI_Comm_rank(work->comm, &work->rank);
  MPI_Comm_size(work->comm, &work->size);
  for (int k = 0; k < lives; ++k) live(work, k % 2 ? longest : 1 + k, k % work->size);
  return NULL;
}

int main(int argc, char** argv) {
  static struct work one = {.seed = 1}, other = {.seed = 1000};
  int provided, rank, failed;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("persistent_threads: this MPI gives level %d only; 0 failed\n", provided);
    MPI_Finalize();
    return 0;
  }
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
  if (rank == 0) printf("persistent_threads: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
