/* A halo exchange with windows and notifications: heat on a plate, the rows divided among the ranks.
 *
 *     mpicc -O2 halo_exchange.c -lespalier -o halo_exchange
 *     espalier run -- mpirun -n 4 ./halo_exchange --columns 512 --steps 1000
 *
 * In every step each rank needs the edge rows of its two neighbours. They write them straight into its halo
 * and notify it: the same call whether the neighbour is on this node, where it is a copy, or on another. The
 * program does it all a second time with MPI_Sendrecv and compares: not a bit may differ. */
#include <espalier/espalier_window.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { above, below, sides };

typedef struct {
  int rank, ranks, rows, columns, steps; /* rows: of each rank */
} plate;

static void check(int code, const char* what) {
  if (code == ESPALIER_OK) return;
  fprintf(stderr, "halo_exchange: %s: %s\n", what, espalier_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- the plate
 * ------------------------------------------------------------------------------------------------- */

static double start_value(const plate* p, int row, int column) {
  const long number = ((long)p->rank * p->rows + row) * p->columns + column;
  return (double)(number * 7919 % 1000);
}

static void start(const plate* p, double* heat) {
  for (int row = 0; row < p->rows; ++row)
    for (int column = 0; column < p->columns; ++column)
      heat[(size_t)row * p->columns + column] = start_value(p, row, column);
}

/* The mean of the four neighbours. Rows beyond the plate are NULL: there it is as warm as at the edge. */
static void step(const plate* p, const double* now, double* next, const double* const halo[sides]) {
  const int n = p->columns;
  for (int row = 0; row < p->rows; ++row) {
    const double* here = now + (size_t)row * n;
    const double* up = row > 0 ? here - n : halo[above] ? halo[above] : here;
    const double* down = row + 1 < p->rows ? here + n : halo[below] ? halo[below] : here;
    for (int i = 0; i < n; ++i)
      next[(size_t)row * n + i] =
          0.25 * (up[i] + down[i] + here[i > 0 ? i - 1 : i] + here[i + 1 < n ? i + 1 : i]);
  }
}

/* --- with a window
 * --------------------------------------------------------------------------------------------- */

typedef struct {
  espalier_window* window;
  int node[sides],
      place[sides]; /* of the neighbours: their node, and their number on it; node -1: there is none */
} halos;

/* Each rank of a node has a place in its segment: two rows from above and below, for even steps and for odd
 * ones. */
static int id_of(int place, int parity, int side) { return (place * 2 + parity) * sides + side; }
static size_t offset_of(const plate* p, int place, int parity, int side) {
  return (size_t)id_of(place, parity, side) * p->columns * sizeof(double);
}

static void find_neighbour(const plate* p, halos* h, int side) {
  const int neighbour = side == above ? p->rank - 1 : p->rank + 1;
  h->node[side] = espalier_window_node_of(h->window, neighbour);
  h->place[side] = 0;
  for (int rank = 0; rank < neighbour; ++rank)
    h->place[side] += espalier_window_node_of(h->window, rank) == h->node[side];
}

static halos open_halos(const plate* p) {
  espalier_comm* world;
  halos h;
  check(espalier_comm_world(&world), "the ranks of MPI_COMM_WORLD");
  /* No node has more ranks than there are, and address space costs nothing much. */
  check(espalier_window_create(world, offset_of(p, p->ranks, 0, 0), id_of(p->ranks, 0, 0), &h.window),
        "the window");
  espalier_comm_free(world);
  for (int side = 0; side < sides; ++side) find_neighbour(p, &h, side);
  return h;
}

/* My first row goes below the neighbour above me, my last one above the neighbour below. Two halos are
 * enough: no rank is two steps ahead of a neighbour whose rows it needs. */
static void send_rows(const plate* p, const halos* h, const double* now, int parity) {
  for (int side = 0; side < sides; ++side) {
    if (h->node[side] < 0) continue;
    const double* row = side == above ? now : now + (size_t)(p->rows - 1) * p->columns;
    const int theirs = side == above ? below : above;
    check(espalier_window_put_notify(h->window, h->node[side], offset_of(p, h->place[side], parity, theirs),
                                     row, p->columns * sizeof(double), id_of(h->place[side], parity, theirs),
                                     1),
          "put_notify");
  }
}

static void await_rows(const plate* p, const halos* h, int parity, const double* halo[sides]) {
  const int place = espalier_window_local_rank(h->window);
  for (int side = 0; side < sides; ++side) {
    halo[side] = NULL;
    if (h->node[side] < 0) continue;
    int id;
    uint32_t value;
    check(espalier_window_notify_waitsome(h->window, id_of(place, parity, side), 1, 60000, &id), "waitsome");
    check(espalier_window_notify_reset(h->window, id, &value), "reset");
    halo[side] =
        (const double*)((char*)espalier_window_memory(h->window) + offset_of(p, place, parity, side));
  }
}

static void run_with_window(const plate* p, const halos* h, double* heat[2]) {
  for (int s = 0; s < p->steps; ++s) {
    const double* halo[sides];
    send_rows(p, h, heat[s % 2], s % 2);
    await_rows(p, h, s % 2, halo);
    /* What was sent in the step before is about to be overwritten. */
    check(espalier_window_flush(h->window), "flush");
    step(p, heat[s % 2], heat[(s + 1) % 2], halo);
  }
}

/* --- with messages
 * --------------------------------------------------------------------------------------------- */

static void run_with_messages(const plate* p, double* heat[2], double* rows[sides]) {
  const int n = p->columns;
  const int up = p->rank > 0 ? p->rank - 1 : MPI_PROC_NULL;
  const int down = p->rank + 1 < p->ranks ? p->rank + 1 : MPI_PROC_NULL;
  for (int s = 0; s < p->steps; ++s) {
    const double* now = heat[s % 2];
    MPI_Sendrecv(now, n, MPI_DOUBLE, up, 0, rows[below], n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(now + (size_t)(p->rows - 1) * n, n, MPI_DOUBLE, down, 1, rows[above], n, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double* const halo[sides] = {up >= 0 ? rows[above] : NULL, down >= 0 ? rows[below] : NULL};
    step(p, now, heat[(s + 1) % 2], halo);
  }
}

/* ---------------------------------------------------------------------------------------------------------------
 */

static int option(int argc, char** argv, const char* name, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (strcmp(argv[i], name) == 0) return atoi(argv[i + 1]);
  return otherwise;
}

static void* room(size_t doubles) {
  void* memory = malloc(doubles * sizeof(double));
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  plate p = {.rows = option(argc, argv, "--rows", 16),
             .columns = option(argc, argv, "--columns", 256),
             .steps = option(argc, argv, "--steps", 500)};
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  const size_t cells = (size_t)p.rows * p.columns;
  double* windowed[2] = {room(cells), room(cells)};
  double* messaged[2] = {room(cells), room(cells)};
  double* rows[sides] = {room(p.columns), room(p.columns)};
  start(&p, windowed[0]);
  start(&p, messaged[0]);

  halos h = open_halos(&p);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  run_with_window(&p, &h, windowed);
  MPI_Barrier(MPI_COMM_WORLD);
  const double middle = MPI_Wtime();
  run_with_messages(&p, messaged, rows);
  MPI_Barrier(MPI_COMM_WORLD);
  const double end = MPI_Wtime();

  int differs = memcmp(windowed[p.steps % 2], messaged[p.steps % 2], cells * sizeof(double)) != 0, any = 0;
  MPI_Reduce(&differs, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (p.rank == 0)
    printf("halo_exchange: ranks %d, nodes %d (%s), steps %d, window %.1f us a step, MPI_Sendrecv %.1f, %s\n",
           p.ranks, espalier_window_nodes(h.window), espalier_window_transport(h.window), p.steps,
           1e6 * (middle - begin) / p.steps, 1e6 * (end - middle) / p.steps, any ? "WRONG" : "right");
  check(espalier_window_free(h.window), "free");
  for (int i = 0; i < 2; ++i) free(windowed[i]), free(messaged[i]), free(rows[i]);
  MPI_Finalize();
  return any;
}
