/* What a rank costs others while it waits in a barrier: rank 0 waits there, and all others work on it.
 *
 *   beside [TIMES]    prints a line for each kind of work: its name, the mean and the largest of all ranks' times
 *                     for one piece of it, in microseconds, and what the first piece took after a pause, when the
 *                     waiting rank may have fallen asleep
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONG_BYTES = 1 << 20, MOST = 64, PAUSE_US = 20000 };

static int rank, size, times = 200;
static MPI_Win window;
static char* message;
static MPI_Request sends[MOST * 8];

static void pause_us(long us) {
  const struct timespec time = {0, us * 1000};
  nanosleep(&time, NULL);
}

static void put(int i) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Put(&i, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
  MPI_Win_unlock(0, window);
}

static void get(int i) {
  int value = i;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Get(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
  MPI_Win_unlock(0, window);
}

static void fetch_and_op(int i) {
  int before;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Fetch_and_op(&i, &before, MPI_INT, 0, 0, MPI_SUM, window);
  MPI_Win_unlock(0, window);
}

static void receive(int i) { MPI_Recv(message, LONG_BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

struct work {
  const char* name;
  void (*once)(int i);
  int sends; /* rank 0 has started to send each rank a message for each piece before it waits */
};

static void measure(const struct work* work, int times, double* mean, double* first) {
  MPI_Barrier(MPI_COMM_WORLD);
  int pending = 0;
  if (rank == 0 && work->sends)
    for (int to = 1; to < size; to++)
      for (int i = 0; i <= times; i++)
        MPI_Isend(message, LONG_BYTES, MPI_BYTE, to, i, MPI_COMM_WORLD, &sends[pending++]);
  *mean = *first = 0;
  if (rank != 0) {
    const double start = MPI_Wtime();
    for (int i = 0; i < times; i++) work->once(i);
    *mean = (MPI_Wtime() - start) / times * 1e6;
    pause_us(PAUSE_US);
    const double late = MPI_Wtime();
    work->once(times);
    *first = (MPI_Wtime() - late) * 1e6;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Waitall(pending, sends, MPI_STATUSES_IGNORE);
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) times = atoi(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  message = calloc(1, LONG_BYTES);
  static int memory[MOST];
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const struct work works[] = {{"put", put, 0}, {"get", get, 0}, {"fetch_and_op", fetch_and_op, 0},
                               {"rendezvous", receive, 1}};
  enum { WORKS = sizeof works / sizeof *works, ROUNDS = 9 };
  if (size < 2 || size > MOST) return MPI_Finalize();
  for (int w = 0; w < WORKS; w++) {
    if (works[w].sends) MPI_Win_free(&window); /* the last: it is to stand without a window */
    double means[ROUNDS], firsts[ROUNDS];
    const int each = works[w].sends ? 7 : times;
    for (int round = 0; round < ROUNDS; round++) {
      double mine[2], most[2];
      measure(&works[w], each, &mine[0], &mine[1]);
      MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      means[round] = most[0];
      firsts[round] = most[1];
    }
    qsort(means, ROUNDS, sizeof *means, ascending);
    qsort(firsts, ROUNDS, sizeof *firsts, ascending);
    if (rank == 0)
      printf("%-12s %d ranks: each %.1f us (most %.1f), after a pause %.1f us (most %.1f)\n", works[w].name, size,
             means[ROUNDS / 2], means[ROUNDS - 1], firsts[ROUNDS / 2], firsts[ROUNDS - 1]);
  }
  free(message);
  MPI_Finalize();
}
