/* Every rank is root in turn and arrives last at each collective. Throughout, two other ranks have a 4 MiB
   MPI_Isend between them: either it is received when all collectives of that root are over, or its receiver
   takes it first and then enters, so that the sender must make progress while it waits in a collective.
   late_root [milliseconds by which the root is late]. At least three ranks, all on one machine: the barrier
   is checked by its clock, which emulated nodes share. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { message_bytes = 4 << 20, tag = 5, longest = 20000, patience = 120 };
enum { BARRIER, BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, COLLECTIVES };
enum { RECEIVED_AFTER, RECEIVED_FIRST, ORDERS };

static const char* const names[COLLECTIVES] = {"barrier", "bcast", "reduce", "allreduce", "scan", "exscan"};

static int rank, size, late_ms, failed;
static long send[longest], receive[longest];
static char* message;

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_for(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static void wrong(int which, int root, int count, int element, long got, long expected) {
  ++failed;
  fprintf(stderr, "FAILED %s, root %d, %d elements, rank %d: element %d is %ld, not %ld\n", names[which],
          root, count, rank, element, got, expected);
}

/* What rank r contributes to element i. */
static long value(int r, int i) { return (long)(r + 1) * (i % 97 + 1); }

/* The sum over the first n ranks. */
static long sum_of(int n, int i) { return (long)n * (n + 1) / 2 * (i % 97 + 1); }

static void call(int which, int root, int count) {
  switch (which) {
    case BARRIER:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case BCAST:
      MPI_Bcast(rank == root ? send : receive, count, MPI_LONG, root, MPI_COMM_WORLD);
      break;
    case REDUCE:
      MPI_Reduce(send, receive, count, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
      break;
    case ALLREDUCE:
      MPI_Allreduce(send, receive, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      break;
    case SCAN:
      MPI_Scan(send, receive, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      break;
    case EXSCAN:
      MPI_Exscan(send, receive, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      break;
  }
}

/* Elements that a call does not give this rank must be as they were: -1. */
static long expected(int which, int root, int i) {
  if (which == BCAST && rank != root) return value(root, i);
  if ((which == REDUCE && rank == root) || which == ALLREDUCE) return sum_of(size, i);
  if (which == SCAN) return sum_of(rank + 1, i);
  if (which == EXSCAN && rank) return sum_of(rank, i);
  return -1;
}

static void check(int which, int root, int count) {
  for (int i = 0; i < count; ++i)
    if (receive[i] != expected(which, root, i)) {
      wrong(which, root, count, i, receive[i], expected(which, root, i));
      return;
    }
}

/* No rank leaves before the last has come. (Exscan's first receive buffer is undefined: it is rank 0's own.)
 */
static void check_barrier(int root, long long came_ns, long long left_ns) {
  MPI_Request request = MPI_REQUEST_NULL;
  long long last_ns = came_ns;
  if (rank == root)
    for (int r = 0; r < size; ++r)
      if (r != root) MPI_Send(&came_ns, 1, MPI_LONG_LONG, r, tag + 1, MPI_COMM_WORLD);
  if (rank != root) {
    MPI_Irecv(&last_ns, 1, MPI_LONG_LONG, root, tag + 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (left_ns < last_ns) wrong(BARRIER, root, 0, 0, (long)left_ns, (long)last_ns);
}

static void one_call(int which, int root, int count) {
  for (int i = 0; i < count; ++i) send[i] = value(rank, i);
  memset(receive, -1, sizeof *receive * (size_t)count);
  if (rank == root) pause_for(late_ms);
  const long long came_ns = now_ns();
  call(which, root, count);
  const long long left_ns = now_ns();
  if (which == BARRIER)
    check_barrier(root, came_ns, left_ns);
  else if (which != EXSCAN || rank)
    check(which, root, count);
}

static char byte_of(int root, int i) { return (char)(i * 7 + root); }

static void take(int root, int from) {
  memset(message, 0, message_bytes);
  MPI_Recv(message, message_bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < message_bytes; ++i)
    if (message[i] != byte_of(root, i)) {
      ++failed;
      fprintf(stderr, "FAILED message of rank %d, root %d: byte %d is wrong\n", from, root, i);
      return;
    }
}

static void with_root(int root, int order) {
  const int sender = (root + 1) % size, receiver = (root + 1 + size / 2) % size;
  MPI_Request request = MPI_REQUEST_NULL;
  alarm(patience); /* a deadlock ends with SIGALRM, not with the test's patience */
  if (rank == sender) {
    for (int i = 0; i < message_bytes; ++i) message[i] = byte_of(root, i);
    MPI_Isend(message, message_bytes, MPI_CHAR, receiver, tag, MPI_COMM_WORLD, &request);
  }
  if (rank == receiver && order == RECEIVED_FIRST) take(root, sender);
  for (int which = 0; which < COLLECTIVES; ++which) {
    one_call(which, root, 1);
    if (which != BARRIER) one_call(which, root, longest);
  }
  if (rank == receiver && order == RECEIVED_AFTER) take(root, sender);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  late_ms = argc > 1 ? atoi(argv[1]) : 20;
  message = malloc(message_bytes);
  if (size < 3 || !message) {
    fprintf(stderr, "late_root: needs three ranks or more, and memory\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int order = 0; order < ORDERS; ++order)
    for (int root = 0; root < size; ++root) with_root(root, order);
  alarm(0);
  int all = 0;
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("late_root: %d failed\n", all);
  free(message);
  MPI_Finalize();
  return failed ? 1 : 0;
}
