/* Long nonblocking and persistent collectives that end while the program makes no MPI call (ESPALIER_PROGRESS=thread).
 *
 *     overlap            all parts
 *     overlap 100        the first part, which waits so many milliseconds
 *     overlap pinned     all ranks on one processor: Espalier's thread takes another one */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>

enum { COUNT = 131072, CALLS = 12 };

static int rank, ranks, wrong, longest_wait_ms = 20000;

static void complain(const char* what, const char* why) {
  printf("rank %d, %s: %s\n", rank, what, why);
  ++wrong;
}

static void sleep_for(int milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

/* Without a call of MPI. */
static void await_value(const double* place, double value, const char* what) {
  for (int waited = 0; *(const volatile double*)place != value; ++waited) {
    if (waited == longest_wait_ms) return complain(what, "did not end while the program computed");
    sleep_for(1);
  }
}

static double given(int from, int i, int turn) { return from + i % 1000 + turn; }

static double sum(int i, int turn) { return ranks * (i % 1000 + turn) + ranks * (ranks - 1) / 2.0; }

static double* new_given(int turn) {
  double* data = malloc(sizeof *data * COUNT);
  for (int i = 0; i < COUNT; ++i) data[i] = given(rank, i, turn);
  return data;
}

static void check_sum(const double* received, int count, int turn, const char* what) {
  for (int i = 0; i < count; ++i)
    if (received[i] != sum(i, turn)) return complain(what, "wrong number");
}

/* One rank, in turn, starts late. */
static void allreduces(MPI_Comm comm) {
  for (int turn = 0; turn < 4; ++turn) {
    double *mine = new_given(turn), *received = calloc(COUNT, sizeof(double));
    MPI_Request request;
    if (turn == rank) sleep_for(100);
    MPI_Iallreduce(mine, received, COUNT, MPI_DOUBLE, MPI_SUM, comm, &request);
    await_value(received + COUNT - 1, sum(COUNT - 1, turn), "allreduce");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(received, COUNT, turn, "allreduce");
    free(mine);
    free(received);
  }
}

static void bcasts(MPI_Comm comm) {
  for (int root = 0; root < ranks; ++root) {
    double* data = rank == root ? new_given(root) : calloc(COUNT, sizeof(double));
    MPI_Request request;
    MPI_Ibcast(data, COUNT, MPI_DOUBLE, root, comm, &request);
    await_value(data + COUNT - 1, given(root, COUNT - 1, root), "bcast");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(data);
  }
}

static void alltoalls(MPI_Comm comm) {
  const int block = COUNT / ranks;
  double *mine = new_given(0), *received = calloc((size_t)block * (size_t)ranks, sizeof(double));
  MPI_Request request;
  MPI_Ialltoall(mine, block, MPI_DOUBLE, received, block, MPI_DOUBLE, comm, &request);
  for (int from = 0; from < ranks; ++from)
    await_value(received + (size_t)from * block + block - 1, given(from, rank * block + block - 1, 0),
                "alltoall");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(mine);
  free(received);
}

/* Long and short ones at once, the last completed first, by waits and tests; blocking ones in between. */
static void many(MPI_Comm comm) {
  static const int counts[] = {COUNT, 1, 700, 20000};
  double *mine[CALLS], *received[CALLS];
  MPI_Request requests[CALLS];
  for (int i = 0; i < CALLS; ++i) {
    mine[i] = new_given(i);
    received[i] = calloc(COUNT, sizeof(double));
    MPI_Iallreduce(mine[i], received[i], counts[i % 4], MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
    if (i % 3 == 0) MPI_Barrier(comm);
  }
  for (int i = CALLS - 1; i >= 0; --i) {
    int done = i % 2;
    if (done) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    while (!done) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    check_sum(received[i], counts[i % 4], i, "many at once");
    free(mine[i]);
    free(received[i]);
  }
}

#if MPI_VERSION >= 4
/* Started again and again, by one rank late in turn; every third time a test or a wait comes at once. */
static void persistent_allreduces(MPI_Comm comm) {
  double *mine = malloc(sizeof *mine * COUNT), *received = malloc(sizeof *received * COUNT);
  MPI_Request request;
  MPI_Allreduce_init(mine, received, COUNT, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
  for (int turn = 0; turn < 12; ++turn) {
    for (int i = 0; i < COUNT; ++i) mine[i] = given(rank, i, turn), received[i] = 0;
    if (turn == rank) sleep_for(100);
    MPI_Start(&request);
    int done = 0;
    if (turn % 3 == 0)
      await_value(received + COUNT - 1, sum(COUNT - 1, turn), "persistent allreduce");
    else if (turn % 3 == 1)
      while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(received, COUNT, turn, "persistent allreduce");
  }
  MPI_Request_free(&request);
  free(mine);
  free(received);
}

static void persistent_bcasts(MPI_Comm comm) {
  double* data = malloc(sizeof *data * COUNT);
  for (int root = 0; root < ranks; ++root) {
    MPI_Request request;
    MPI_Bcast_init(data, COUNT, MPI_DOUBLE, root, comm, MPI_INFO_NULL, &request);
    for (int turn = 0; turn < 6; ++turn) {
      for (int i = 0; i < COUNT; ++i) data[i] = rank == root ? given(root, i, turn) : -1;
      MPI_Start(&request);
      await_value(data + COUNT - 1, given(root, COUNT - 1, turn), "persistent bcast");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < COUNT; ++i)
        if (data[i] != given(root, i, turn)) return complain("persistent bcast", "wrong number");
    }
    MPI_Request_free(&request);
  }
  free(data);
}

/* Several under way, with nonblocking ones between them. */
static void persistent_and_others(MPI_Comm comm) {
  double *mine[CALLS], *received[CALLS];
  MPI_Request requests[CALLS];
  for (int i = 0; i < CALLS; ++i) {
    mine[i] = new_given(i), received[i] = calloc(COUNT, sizeof(double));
    if (i % 2)
      MPI_Allreduce_init(mine[i], received[i], COUNT, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
  }
  for (int i = 0; i < CALLS; ++i)
    if (i % 2)
      MPI_Start(&requests[i]);
    else
      MPI_Iallreduce(mine[i], received[i], COUNT, MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
  MPI_Barrier(comm);
  for (int i = CALLS - 1; i >= 0; --i) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    check_sum(received[i], COUNT, i, "persistent and nonblocking");
    if (i % 2) MPI_Request_free(&requests[i]);
    free(mine[i]), free(received[i]);
  }
}
#endif

static void freed_before(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  double *mine = new_given(0), *received = calloc(COUNT, sizeof(double));
  MPI_Request request;
  MPI_Iallreduce(mine, received, COUNT, MPI_DOUBLE, MPI_SUM, comm, &request);
  MPI_Comm_free(&comm);
  await_value(received + COUNT - 1, sum(COUNT - 1, 0), "allreduce of a freed communicator");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(mine);
  free(received);
}

static volatile sig_atomic_t signals, elsewhere;

static void on_alarm(int number) {
  char name[16];
  (void)number;
  ++signals;
  if (prctl(PR_GET_NAME, name) == 0 && strcmp(name, "espalier") == 0) ++elsewhere;
}

/* The program's handlers do not run in Espalier's thread. */
static void with_signals(MPI_Comm comm) {
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int turn = 0; turn < 20; ++turn) many(comm);
  setitimer(ITIMER_REAL, &never, NULL);
  if (signals == 0) complain("signals", "none came");
  if (elsewhere > 0) complain("signals", "a handler ran in Espalier's thread");
}

static int pin_to_first_cpu(void) {
  cpu_set_t cpus;
  int first = 0;
  sched_getaffinity(0, sizeof cpus, &cpus);
  while (!CPU_ISSET(first, &cpus)) ++first;
  CPU_ZERO(&cpus);
  CPU_SET(first, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  return first;
}

static pid_t espaliers_thread(void) {
  pid_t found = 0;
  DIR* threads = opendir("/proc/self/task");
  for (struct dirent* each; (each = readdir(threads));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", each->d_name);
    FILE* file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file) && strcmp(name, "espalier\n") == 0) found = atoi(each->d_name);
    if (file) fclose(file);
  }
  closedir(threads);
  return found;
}

static void thread_is_elsewhere(int mine) {
  const pid_t thread = espaliers_thread();
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (thread == 0) return complain("pinned", "there is no thread");
  sched_getaffinity(thread, sizeof cpus, &cpus);
  if (CPU_COUNT(&cpus) == 0 || CPU_ISSET(mine, &cpus))
    complain("pinned", "the thread runs on the ranks' processor");
}

static void all_parts(void) {
  allreduces(MPI_COMM_WORLD);
  bcasts(MPI_COMM_WORLD);
  alltoalls(MPI_COMM_WORLD);
  many(MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  persistent_allreduces(MPI_COMM_WORLD);
  persistent_bcasts(MPI_COMM_WORLD);
  persistent_and_others(MPI_COMM_WORLD);
#endif
  freed_before();
  with_signals(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const int is_pinned = argc > 1 && strcmp(argv[1], "pinned") == 0;
  const int mine = is_pinned ? pin_to_first_cpu() : -1;
  if (argc > 1 && !is_pinned) longest_wait_ms = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  argc > 1 ? allreduces(MPI_COMM_WORLD) : all_parts();
  if (is_pinned) thread_is_elsewhere(mine);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("overlap: %d failed\n", all);
  MPI_Finalize();
  return all != 0;
}
