/* All ranks but the last wait in a barrier while that one computes; meanwhile long messages are on their way.
 *
 *   message_pending KIND     KIND: send, receive, short (messages), one of the functions that have completed them, or
 *                            null: from no rank, with no datatype
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONG = 1 << 20, SHORT = 16, COUNT = 3 };

static int rank, size, failed;
static char *sent, *received;
static MPI_Request requests[2 * COUNT];

static void begin_sends(int count) {
  for (int i = 0; i < COUNT; i++)
    MPI_Isend(sent + (size_t)i * LONG, count, MPI_BYTE, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[i]);
}

static void begin_receives(int count) {
  for (int i = 0; i < COUNT; i++)
    MPI_Irecv(received + (size_t)i * LONG, count, MPI_BYTE, (rank + size - 1) % size, i, MPI_COMM_WORLD,
              &requests[COUNT + i]);
}

static void complete(const char* how) {
  int flag = 0, index, done, indices[2 * COUNT];
  for (int i = 0; i < 2 * COUNT; i++) {
    flag = 0;
    if (!strcmp(how, "wait")) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    if (!strcmp(how, "waitany")) MPI_Waitany(2 * COUNT, requests, &index, MPI_STATUS_IGNORE);
    if (!strcmp(how, "test"))
      while (!flag) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    if (!strcmp(how, "testany"))
      while (!flag) MPI_Testany(2 * COUNT, requests, &index, &flag, MPI_STATUS_IGNORE);
  }
  if (!strcmp(how, "waitsome"))
    do MPI_Waitsome(2 * COUNT, requests, &done, indices, MPI_STATUSES_IGNORE);
    while (done != MPI_UNDEFINED);
  if (!strcmp(how, "testsome"))
    do MPI_Testsome(2 * COUNT, requests, &done, indices, MPI_STATUSES_IGNORE);
    while (done != MPI_UNDEFINED);
  if (!strcmp(how, "testall"))
    while (!flag) MPI_Testall(2 * COUNT, requests, &flag, MPI_STATUSES_IGNORE);
  MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE); /* whatever is left */
  for (int i = 0; i < COUNT; i++) failed += received[(size_t)i * LONG] != i + 1;
}

static void receive_nothing(void) {
  MPI_Request request;
  MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* kind = argc > 1 ? argv[1] : "send";
  sent = malloc((size_t)COUNT * LONG);
  received = calloc(COUNT, LONG);
  for (int i = 0; i < COUNT; i++) memset(sent + (size_t)i * LONG, i + 1, LONG);
  const int sends = !strcmp(kind, "send"), receives = !strcmp(kind, "receive"), is_short = !strcmp(kind, "short");
  const int count = is_short ? SHORT : LONG;

  if (!strcmp(kind, "null")) {
    receive_nothing();
    kind = "waitall";
  }
  if (!receives) begin_sends(count);
  if (!sends) begin_receives(count);
  if (!sends && !receives && !is_short) complete(kind);
  MPI_Barrier(MPI_COMM_WORLD); /* the first collective of a communicator waits in the host, too */
  const struct timespec late = {0, 100000000};
  if (rank == size - 1) nanosleep(&late, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (sends) begin_receives(count);
  if (receives) begin_sends(count);
  if (sends || receives || is_short) complete("waitall");

  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("message_pending, %s: %d failed\n", kind, all);
  fflush(stdout);
  free(sent);
  free(received);
  MPI_Finalize();
  return failed != 0;
}
