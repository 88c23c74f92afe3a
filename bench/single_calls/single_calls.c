/* Single calls in turn with the host's (PMPI_), each from a barrier of the host's; the time of a call is the largest of all
 * ranks'.
 *
 *   single_calls [CALLS]    prints a line for each collective: its name, the host's median and mean, Espalier's median and
 *                           mean, in microseconds
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64, MOST = 512, WARM = 20 };
enum side { HOST, ESPALIER, SIDES };

static char out[BLOCK * MOST], in[BLOCK * MOST];
static double one = 1, sum;

static void barrier(enum side side) { side == HOST ? PMPI_Barrier(MPI_COMM_WORLD) : MPI_Barrier(MPI_COMM_WORLD); }

static void allreduce(enum side side) {
  (side == HOST ? PMPI_Allreduce : MPI_Allreduce)(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(enum side side) {
  (side == HOST ? PMPI_Alltoall : MPI_Alltoall)(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
}

static void bcast(enum side side) { (side == HOST ? PMPI_Bcast : MPI_Bcast)(out, 8, MPI_BYTE, 0, MPI_COMM_WORLD); }

static const struct {
  const char* name;
  void (*call)(enum side);
} collectives[] = {{"barrier", barrier}, {"allreduce", allreduce}, {"alltoall", alltoall}, {"bcast", bcast}};

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double time_of(void (*call)(enum side), enum side side) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  call(side);
  const double mine = (MPI_Wtime() - start) * 1e6;
  double most = 0;
  PMPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return most;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 200;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* times[SIDES] = {calloc(calls, sizeof(double)), calloc(calls, sizeof(double))};
  for (unsigned c = 0; c < sizeof collectives / sizeof *collectives && size <= MOST; c++) {
    for (int i = 0; i < WARM; i++) collectives[c].call(HOST), collectives[c].call(ESPALIER);
    for (int i = 0; i < calls; i++)
      for (int turn = 0; turn < SIDES; turn++) {
        const enum side side = (turn + i) % SIDES; /* the first changes */
        times[side][i] = time_of(collectives[c].call, side);
      }
    if (rank != 0) continue;
    printf("%s", collectives[c].name);
    for (int side = 0; side < SIDES; side++) {
      double all = 0;
      for (int i = 0; i < calls; i++) all += times[side][i];
      qsort(times[side], calls, sizeof(double), ascending);
      printf(" %.1f %.1f", times[side][calls / 2], all / calls);
    }
    printf("\n");
  }
  free(times[HOST]);
  free(times[ESPALIER]);
  MPI_Finalize();
}
