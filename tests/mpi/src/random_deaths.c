/* One rank kills itself at a random moment while all make communicators and persistent requests, use them and free
   them. Every other rank says how its last call ended: by an error, or, after some seconds, in which call it waits.
     random_deaths VICTIM MICROSECONDS SEED killed|exits
   A line of each survivor: "rank R: told CALL MILLISECONDS: TEXT", "rank R: waits CALL", or "rank R: done". */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "survivor.h"

enum { most = 4096, one = 1 }; /* longs */

static int size;
static long mine[most], theirs[most * 16];

static void be_killed(int number) {
  (void)number;
  kill(getpid(), SIGKILL);
}

static void exit_at_once(int number) {
  (void)number;
  _exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void ended(int code, double began) {
  char text[MPI_MAX_ERROR_STRING];
  explain(code, text);
  say("rank %d: told %s %.0f: %s\n", rank, call, now() - began, text);
  _exit(0);
}

#define TRY(name, expression)                          \
  do {                                                 \
    call = name;                                       \
    const double began = now();                        \
    const int code = (expression);                     \
    if (code != MPI_SUCCESS) ended(code, began);       \
    ++done;                                            \
  } while (0)

static void use(MPI_Comm comm, unsigned* seed) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  const int count = rand_r(seed) % 3 == 0 ? most : 1 + rand_r(seed) % 30;
  switch (rand_r(seed) % 5) {
    case 0: TRY("allreduce", MPI_Allreduce(mine, theirs, count, MPI_LONG, MPI_SUM, comm)); break;
    case 1: TRY("bcast", MPI_Bcast(theirs, count, MPI_LONG, 0, comm)); break;
    case 2: TRY("allgather", MPI_Allgather(mine, count, MPI_LONG, theirs, count, MPI_LONG, comm)); break;
    case 3: TRY("reduce", MPI_Reduce(mine, theirs, count, MPI_LONG, MPI_SUM, ranks - 1, comm)); break;
    default: TRY("barrier", MPI_Barrier(comm));
  }
}

static void prepare(MPI_Comm comm) {
  MPI_Request request;
  TRY("allreduce_init",
      MPI_Allreduce_init(mine, theirs, one, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &request));
  TRY("start", MPI_Start(&request));
  TRY("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  TRY("request_free", MPI_Request_free(&request));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  unsigned seed = (unsigned)atoi(argv[3]);
  pthread_t watcher;
  pthread_create(&watcher, NULL, watch, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == atoi(argv[1])) {
    signal(SIGALRM, strcmp(argv[4], "killed") == 0 ? be_killed : exit_at_once);
    const long wait = 1 + atol(argv[2]);
    const struct itimerval timer = {{0, 0}, {wait / 1000000, wait % 1000000}};
    setitimer(ITIMER_REAL, &timer, NULL);
  }
  for (;;) {
    MPI_Comm comm;
    const int way = rand_r(&seed) % 3;
    if (way == 0) TRY("host: dup", MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (way == 1) TRY("host: split", MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm));
    if (way == 2) TRY("host: split in two", MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm));
    unsigned common = seed;
    for (int i = 0; i < 4; ++i) use(comm, &common);
    if (rand_r(&seed) % 2) prepare(comm);
    use(MPI_COMM_WORLD, &common);
    TRY("host: comm_free", MPI_Comm_free(&comm));
  }
}
