/* A message that was sent before a collective is seen by the first test or probe behind it.
 *
 *   asked_after_collective [MESSAGES] [multiple]
 *
 * Rank 0 sends so many messages to the last rank, all ranks meet in a collective, and the last rank asks for the last
 * message with each function that returns at once. Another process that computes may stop a rank between the two halves
 * of a message's way, so one miss in a hundred is let pass; without a cure it is all of them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 100, MOST = 64 };

static int rank, size, last, messages = 1, failed;
static int value[MOST];
static MPI_Request requests[MOST], meeting;
static MPI_Win window;
static MPI_Message message;

static void by_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void by_allreduce(void) {
  int mine = 1, all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void by_persistent(void) {
  MPI_Start(&meeting);
  MPI_Wait(&meeting, MPI_STATUS_IGNORE);
}

enum kind { PROBED, RECEIVED, PUT };
struct ask {
  const char* name;
  enum kind kind;
  int (*once)(void);
};

static int iprobe(void) {
  int flag;
  MPI_Iprobe(0, messages - 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return flag;
}
static int improbe(void) {
  int flag;
  MPI_Improbe(0, messages - 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  if (flag) MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  return flag;
}
static int test(void) {
  int flag;
  MPI_Test(&requests[messages - 1], &flag, MPI_STATUS_IGNORE);
  return flag;
}
static int testall(void) {
  int flag;
  MPI_Testall(messages, requests, &flag, MPI_STATUSES_IGNORE);
  return flag;
}
static int testany(void) {
  int flag, index;
  MPI_Testany(1, &requests[messages - 1], &index, &flag, MPI_STATUS_IGNORE);
  return flag;
}
static int testsome(void) {
  int count, index;
  MPI_Testsome(1, &requests[messages - 1], &count, &index, MPI_STATUSES_IGNORE);
  return count == 1;
}
static int get_status(void) {
  int flag;
  MPI_Request_get_status(requests[messages - 1], &flag, MPI_STATUS_IGNORE);
  return flag;
}
static int win_test(void) {
  int flag;
  MPI_Win_test(window, &flag);
  return flag;
}

static void prepare(const struct ask* ask, MPI_Group origin) {
  if (rank != last) return;
  if (ask->kind == RECEIVED)
    for (int i = 0; i < messages; i++) MPI_Irecv(&value[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  if (ask->kind == PUT) MPI_Win_post(origin, 0, window);
}

static void send(const struct ask* ask, MPI_Group target) {
  if (rank != 0) return;
  if (ask->kind != PUT) {
    for (int i = 0; i < messages; i++) MPI_Send(&value[i], 1, MPI_INT, last, i, MPI_COMM_WORLD);
    return;
  }
  MPI_Win_start(target, 0, window);
  for (int i = 0; i < messages; i++) MPI_Put(&value[i], 1, MPI_INT, last, i, 1, MPI_INT, window);
  MPI_Win_complete(window);
}

/* What is left over after the first ask. */
static void take(const struct ask* ask, int seen) {
  if (ask->kind == RECEIVED) MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  if (ask->kind == PUT && !seen) MPI_Win_wait(window);
  if (ask->kind != PROBED) return;
  const int improbed = ask->once == improbe && seen;
  for (int i = 0; i < messages - improbed; i++)
    MPI_Recv(value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void check(const struct ask* ask, const char* how, void (*meet)(void), MPI_Group origin, MPI_Group target) {
  int missed = 0;
  for (int round = 0; round < ROUNDS; round++) {
    prepare(ask, origin);
    MPI_Barrier(MPI_COMM_WORLD);
    send(ask, target);
    meet();
    if (rank == last) {
      const int seen = ask->once();
      missed += !seen;
      take(ask, seen);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (missed > ROUNDS / 100) {
    failed++;
    printf("%s behind %s saw nothing in %d of %d rounds\n", ask->name, how, missed, ROUNDS);
  }
}

int main(int argc, char** argv) {
  int level;
  if (argc > 2 && strcmp(argv[2], "multiple") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  else
    MPI_Init(&argc, &argv);
  if (argc > 1) messages = atoi(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size - 1;
  static int memory[MOST];
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &meeting);
  MPI_Group world, origin, target;
  const int first = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &first, &origin);
  MPI_Group_incl(world, 1, &last, &target);
  const struct ask asks[] = {
      {"MPI_Iprobe", PROBED, iprobe},     {"MPI_Improbe", PROBED, improbe},
      {"MPI_Test", RECEIVED, test},       {"MPI_Testall", RECEIVED, testall},
      {"MPI_Testany", RECEIVED, testany}, {"MPI_Testsome", RECEIVED, testsome},
      {"MPI_Win_test", PUT, win_test},    {"MPI_Request_get_status", RECEIVED, get_status}};
  const struct {
    const char* name;
    void (*meet)(void);
  } ways[] = {{"a barrier", by_barrier}, {"an allreduce", by_allreduce}, {"a persistent barrier", by_persistent}};
  for (unsigned a = 0; a < sizeof asks / sizeof *asks; a++)
    for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++)
      check(&asks[a], ways[w].name, ways[w].meet, origin, target);
  MPI_Request_free(&meeting);
  MPI_Group_free(&world);
  MPI_Group_free(&origin);
  MPI_Group_free(&target);
  MPI_Win_free(&window);
  if (rank == last) printf("asked_after_collective, %d messages: %d failed\n", messages, failed);
  fflush(stdout);
  MPI_Finalize();
  return failed != 0;
}
