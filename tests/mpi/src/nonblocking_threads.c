/* MPI_THREAD_MULTIPLE: a thread waits for a nonblocking collective, while another one of the same rank starts
   and completes others, on the same communicator and on one of its own. */
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { rounds = 200, longest = 3000 };

static int rank, size;

struct waiter {
  MPI_Request request;
  int sum, failed;
};

static void* wait_for(void* argument) {
  struct waiter* waiter = argument;
  MPI_Wait(&waiter->request, MPI_STATUS_IGNORE);
  waiter->failed = waiter->sum != size * (size + 1) / 2 || waiter->request != MPI_REQUEST_NULL;
  return NULL;
}

/* Rank 0 starts the first collective last: the others' waiters wait meanwhile. */
static int on_one_communicator(MPI_Comm comm) {
  int failed = 0;
  static int in[longest], out[longest];
  for (int round = 0; round < rounds; ++round) {
    const int one = rank + 1, count = round % 4 ? 3 : longest;
    struct waiter waiter = {.sum = 0};
    pthread_t thread;
    MPI_Request requests[2];
    if (rank == 0) sched_yield();
    MPI_Iallreduce(&one, &waiter.sum, 1, MPI_INT, MPI_SUM, comm, &waiter.request);
    pthread_create(&thread, NULL, wait_for, &waiter);
    for (int i = 0; i < count; ++i) in[i] = rank + i + round;
    MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibarrier(comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) failed |= out[i] != size * (i + round) + size * (size - 1) / 2;
    pthread_join(thread, NULL);
    failed |= waiter.failed;
  }
  return failed;
}

struct work {
  MPI_Comm comm;
  int failed;
};

static void* run(void* argument) {
  struct work* work = argument;
  for (int round = 0; round < rounds; ++round) {
    long told[50], sum = 0, mine = round;
    MPI_Request requests[2];
    int flag = 0;
    for (int i = 0; i < 50; ++i) told[i] = rank == round % size ? round + i : -1;
    MPI_Ibcast(told, 50, MPI_LONG, round % size, work->comm, &requests[0]);
    MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, work->comm, &requests[1]);
    while (!flag) {
      MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
      sched_yield();
    }
    for (int i = 0; i < 50; ++i) work->failed |= told[i] != round + i;
    work->failed |= sum != (long)size * round;
  }
  return NULL;
}

int main(int argc, char** argv) {
  struct work other = {.failed = 0};
  int provided, failed, all = 0;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("nonblocking_threads: this MPI gives level %d only; 0 failed\n", provided);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &other.comm);
  MPI_Barrier(MPI_COMM_WORLD); /* over nodes the ranks meet in blocking calls */
  MPI_Barrier(other.comm);
  pthread_create(&thread, NULL, run, &other);
  failed = on_one_communicator(MPI_COMM_WORLD);
  pthread_join(thread, NULL);
  failed |= other.failed;
  MPI_Comm_free(&other.comm);
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("nonblocking_threads: %d failed\n", all);
  MPI_Finalize();
  return failed;
}
