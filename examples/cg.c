/* Conjugate gradients on a 2-D Poisson problem: a plain MPI program that knows nothing of Espalier.
 *
 *     mpicc -O2 cg.c -o cg -lm
 *     mpirun -n 4 ./cg --grid 128
 *     espalier run -- mpirun -n 4 ./cg --grid 128
 *
 * The unit square has grid x grid inner points in rows; each rank has a run of whole rows. One iteration is
 * one product with the five-point matrix, for which neighbouring ranks exchange their edge rows, and two dot
 * products, each an MPI_Allreduce of one double.
 *
 * The answer is known: u below is a cubic in x and in y, for which the five-point formula has no error. So
 * what is left between the computed u and the exact one is the solver's error alone. */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  long grid, most_iterations, solves;
  double tolerance;
  const char* history; /* file for the residual of every iteration, or NULL */
} Options;

/* The rows of this rank. A vector has one row more above and below, for the neighbours' edges; these stay
 * zero at the border of the square, where u is zero. */
typedef struct {
  long grid, first_row, rows;
  int rank, ranks, above, below; /* MPI_PROC_NULL at the border */
} Strip;

/* What went wrong on this rank alone ends all of them. */
static void stop(const char* what, const char* why) {
  fprintf(stderr, "cg: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

/* A wrong command line is wrong on every rank: one says so, and all leave in order, because a launcher may
 * lose the words of a job that aborts. */
static void refuse(const char* option, const char* why) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "cg: %s: %s\n", option, why);
  MPI_Finalize();
  exit(2);
}

static double number(const char* option, const char* text, double least) {
  char* end = NULL;
  const double value = strtod(text, &end);
  if (end == text || *end || !(value >= least)) refuse(option, "a number that is too small, or none");
  return value;
}

static Options read_options(int argc, char** argv) {
  static const struct option known[] = {
      {"grid", required_argument, NULL, 'g'},       {"tolerance", required_argument, NULL, 't'},
      {"iterations", required_argument, NULL, 'i'}, {"solves", required_argument, NULL, 's'},
      {"history", required_argument, NULL, 'h'},    {NULL, 0, NULL, 0}};
  Options options = {128, 100000, 1, 1e-10, NULL};
  for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    if (letter == 'g')
      options.grid = (long)number("--grid", optarg, 1);
    else if (letter == 't')
      options.tolerance = number("--tolerance", optarg, 1e-300);
    else if (letter == 'i')
      options.most_iterations = (long)number("--iterations", optarg, 1);
    else if (letter == 's')
      options.solves = (long)number("--solves", optarg, 1);
    else if (letter == 'h')
      options.history = optarg;
    else
      refuse("usage", "cg [--grid N] [--tolerance T] [--iterations N] [--solves N] [--history FILE]");
  }
  return options;
}

static Strip strip_of(long grid) {
  Strip s = {.grid = grid};
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
  if (s.ranks > grid) refuse("--grid", "fewer rows than ranks");
  s.first_row = grid * s.rank / s.ranks;
  s.rows = grid * (s.rank + 1) / s.ranks - s.first_row;
  s.above = s.rank > 0 ? s.rank - 1 : MPI_PROC_NULL;
  s.below = s.rank + 1 < s.ranks ? s.rank + 1 : MPI_PROC_NULL;
  return s;
}

static double* new_vector(const Strip* s) {
  double* v = calloc((size_t)((s->rows + 2) * s->grid), sizeof *v);
  if (!v) stop("memory", "not enough for a vector of this grid");
  return v;
}

/* u(x, y) = p(x) q(y) with p = x (1 - x) (1 + x), q = y (1 - y) (2 - y). */
static double p(double x) { return x * (1 - x) * (1 + x); }
static double q(double y) { return y * (1 - y) * (2 - y); }
static double p_bent(double x) { return -6 * x; } /* the second derivatives */
static double q_bent(double y) { return 6 * y - 6; }

/* The right-hand side, -(u_xx + u_yy) times the square of the mesh width. */
static void fill_right_side(const Strip* s, double* b) {
  const double h = 1.0 / (double)(s->grid + 1);
  for (long i = 0; i < s->rows; ++i)
    for (long j = 0; j < s->grid; ++j) {
      const double x = h * (double)(s->first_row + i + 1), y = h * (double)(j + 1);
      b[(i + 1) * s->grid + j] = -(p_bent(x) * q(y) + p(x) * q_bent(y)) * h * h;
    }
}

static double dot(const Strip* s, const double* a, const double* b) {
  double mine = 0, all = 0;
  for (long i = s->grid; i < (s->rows + 1) * s->grid; ++i) mine += a[i] * b[i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void exchange_edges(const Strip* s, double* v) {
  const int n = (int)s->grid;
  MPI_Request requests[4];
  MPI_Irecv(v, n, MPI_DOUBLE, s->above, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(v + (s->rows + 1) * n, n, MPI_DOUBLE, s->below, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(v + n, n, MPI_DOUBLE, s->above, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(v + s->rows * n, n, MPI_DOUBLE, s->below, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void multiply_row(const double* middle, long n, double* out) {
  const double *up = middle - n, *down = middle + n;
  for (long j = 0; j < n; ++j)
    out[j] = 4 * middle[j] - up[j] - down[j] - (j > 0 ? middle[j - 1] : 0) - (j + 1 < n ? middle[j + 1] : 0);
}

static void multiply(const Strip* s, double* v, double* out) {
  exchange_edges(s, v);
  for (long i = 1; i <= s->rows; ++i) multiply_row(v + i * s->grid, s->grid, out + i * s->grid);
}

static void add(const Strip* s, double* y, double factor, const double* x) {
  for (long i = s->grid; i < (s->rows + 1) * s->grid; ++i) y[i] += factor * x[i];
}

static void scale_and_add(const Strip* s, double* y, double factor, const double* x) {
  for (long i = s->grid; i < (s->rows + 1) * s->grid; ++i) y[i] = x[i] + factor * y[i];
}

/* Hestenes and Stiefel's iteration from u = 0, until |r| <= tolerance |b|. Gives the iterations. */
static long solve(const Strip* s, const Options* options, const double* b, double* u, double* history) {
  memset(u, 0, (size_t)((s->rows + 2) * s->grid) * sizeof *u);
  double *r = new_vector(s), *d = new_vector(s), *product = new_vector(s);
  add(s, r, 1, b);
  add(s, d, 1, b);
  double square = dot(s, r, r);
  const double goal = options->tolerance * options->tolerance * square, first = square;
  long iteration = 0;
  while (square > goal && iteration < options->most_iterations) {
    multiply(s, d, product);
    const double step = square / dot(s, d, product);
    add(s, u, step, d);
    add(s, r, -step, product);
    const double next = dot(s, r, r);
    scale_and_add(s, d, next / square, r);
    square = next;
    history[iteration++] = sqrt(square / first);
  }
  free(r);
  free(d);
  free(product);
  return iteration;
}

/* |b - A u| / |b|, from u itself: what the solver says of its residual is not taken on trust. */
static double true_residual(const Strip* s, const double* b, double* u) {
  double* rest = new_vector(s);
  multiply(s, u, rest);
  scale_and_add(s, rest, -1, b);
  const double residual = sqrt(dot(s, rest, rest) / dot(s, b, b));
  free(rest);
  return residual;
}

/* The largest difference to the exact solution, relative to its largest value. */
static double true_error(const Strip* s, const double* u) {
  const double h = 1.0 / (double)(s->grid + 1);
  double mine[2] = {0, 0}, all[2];
  for (long i = 0; i < s->rows; ++i)
    for (long j = 0; j < s->grid; ++j) {
      const double exact = p(h * (double)(s->first_row + i + 1)) * q(h * (double)(j + 1));
      mine[0] = fmax(mine[0], fabs(u[(i + 1) * s->grid + j] - exact));
      mine[1] = fmax(mine[1], exact);
    }
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all[0] / all[1];
}

static void write_history(const char* path, const double* history, long iterations) {
  FILE* file = fopen(path, "w");
  if (!file) stop(path, "cannot be written");
  for (long i = 0; i < iterations; ++i) fprintf(file, "%.17e\n", history[i]);
  if (fclose(file) != 0) stop(path, "cannot be written to its end");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = read_options(argc, argv);
  const Strip strip = strip_of(options.grid);
  double *b = new_vector(&strip), *u = new_vector(&strip);
  double* history = calloc((size_t)options.most_iterations, sizeof *history);
  if (!history) stop("memory", "not enough for the history of so many --iterations");
  fill_right_side(&strip, b);

  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  long iterations =
      0; /* of one solve; with --solves the same system is solved again, as in a time-stepping program */
  for (long i = 0; i < options.solves; ++i) iterations = solve(&strip, &options, b, u, history);
  const double mine = MPI_Wtime() - begin;
  double seconds = 0;
  MPI_Reduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

  const double residual = true_residual(&strip, b, u), error = true_error(&strip, u);
  /* The matrix has a condition of about (grid / 2)^2; an error beyond that times the tolerance is a mistake.
   */
  const double grid = (double)options.grid;
  const int right = residual <= 10 * options.tolerance && error <= (10 + grid * grid) * options.tolerance;
  if (strip.rank == 0) {
    printf("cg: ranks %d, grid %ld, iterations %ld, seconds %.6f, residual %.3e, error %.3e, %s\n",
           strip.ranks, options.grid, iterations, seconds, residual, error, right ? "right" : "WRONG");
    if (options.history) write_history(options.history, history, iterations);
  }
  free(b);
  free(u);
  free(history);
  MPI_Finalize();
  return right ? 0 : 1;
}
