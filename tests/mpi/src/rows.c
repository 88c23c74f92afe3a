/* Rows of correct calls, of which one rank is late: the others run ahead of it as far as they may, and then into a call
   of another kind. All lengths are right, so no rank may complain, and all data must be. rows */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 8, MOST = 20000 };

static int rank, size, wrong;
static int ones[MOST_RANKS], places[MOST_RANKS], bytes[MOST_RANKS], byte_places[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static char *out, *in;

static double value(int from, int to, int turn) { return 1000.0 * turn + 10.0 * from + to; }

static void check(int is_right, const char* call, int turn) {
  if (!is_right && wrong++ < 10) printf("rank %d: wrong data in %s %d\n", rank, call, turn);
}

/* One call of 8 bytes for each rank. */
static void row_call(int kind, int turn) {
  static const char* const names[] = {"gatherv", "scatterv", "alltoallv", "alltoallw", "allgatherv"};
  double send[MOST_RANKS], receive[MOST_RANKS];
  for (int to = 0; to < size; ++to) send[to] = value(rank, to, turn), receive[to] = -1;
  switch (kind) {
    case 0:
      MPI_Gatherv(send, 1, MPI_DOUBLE, receive, ones, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Scatterv(send, ones, places, MPI_DOUBLE, receive, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      break;
    case 2:
      MPI_Alltoallv(send, ones, places, MPI_DOUBLE, receive, ones, places, MPI_DOUBLE, MPI_COMM_WORLD);
      break;
    case 3:
      MPI_Alltoallw(send, ones, byte_places, types, receive, ones, byte_places, types, MPI_COMM_WORLD);
      break;
    default:
      MPI_Allgatherv(send, 1, MPI_DOUBLE, receive, ones, places, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  const int received = kind == 0 ? (rank == 0 ? size : 0) : kind == 1 ? 1 : size;
  for (int from = 0; from < received; ++from) {
    const int to = kind == 0 || kind == 4 ? 0 : rank;
    check(receive[from] == value(from, to, turn), names[kind], turn);
  }
}

enum { KINDS_AFTER = 12 };

/* The call after a row, of `length` bytes a rank; what it moves others check (checked.c). */
static void call_after(int kind, int length) {
  const MPI_Comm all = MPI_COMM_WORLD;
  for (int i = 0; i < size; ++i) bytes[i] = length, byte_places[i] = i * MOST;
  switch (kind) {
    case 0: MPI_Barrier(all); break;
    case 1: MPI_Bcast(out, length, MPI_BYTE, 0, all); break;
    case 2: MPI_Reduce(out, in, length, MPI_BYTE, MPI_BOR, 0, all); break;
    case 3: MPI_Allreduce(out, in, length, MPI_BYTE, MPI_BOR, all); break;
    case 4: MPI_Gather(out, length, MPI_BYTE, in, length, MPI_BYTE, 0, all); break;
    case 5: MPI_Scatter(out, length, MPI_BYTE, in, length, MPI_BYTE, 0, all); break;
    case 6: MPI_Gatherv(out, length, MPI_BYTE, in, bytes, byte_places, MPI_BYTE, 0, all); break;
    case 7: MPI_Reduce_scatter_block(out, in, length, MPI_BYTE, MPI_BOR, all); break;
    case 8: MPI_Scan(out, in, length, MPI_BYTE, MPI_BOR, all); break;
    case 9: MPI_Alltoall(out, length, MPI_BYTE, in, length, MPI_BYTE, all); break;
    case 10: MPI_Allgather(out, length, MPI_BYTE, in, length, MPI_BYTE, all); break;
    default: break; /* the next row, and a barrier before it */
  }
  for (int i = 0; i < size; ++i) byte_places[i] = i * (int)sizeof(double);
}

/* `late` sleeps before a row, so that all others find its flags old. */
static void row(int kind, int calls, int late, int kind_after, int length) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == late) usleep(500);
  for (int turn = 0; turn < calls; ++turn) row_call(kind, turn);
  call_after(kind_after, length);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = calloc((size_t)size, MOST), in = calloc((size_t)size, MOST);
  for (int i = 0; i < size; ++i)
    ones[i] = 1, places[i] = i, byte_places[i] = i * (int)sizeof(double), types[i] = MPI_DOUBLE;
  /* A rank has 32 lines, which of two ranks short calls take one by one; of more each leaves out many. Late is the rank
     that the others have something for. */
  static const int rows[] = {1, 2, 7, 8, 15, 16, 31, 32, 33, 64};
  for (int kind = 0; kind < 5; ++kind)
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); ++i)
      for (int kind_after = 0; kind_after < KINDS_AFTER; ++kind_after)
        row(kind, rows[i], kind == 1 ? size - 1 : 0, kind_after, (i + kind_after) % 2 ? MOST : 8);
  MPI_Barrier(MPI_COMM_WORLD);
  if (wrong == 0) printf("rank %d: all rows are right\n", rank);
  MPI_Finalize();
  free(out), free(in);
  return wrong != 0;
}
