// The host MPI (PMPI names) and Espalier (MPI names, when it is preloaded) in one process, in turns, on the
// same buffers. bench/README.md says what is timed and why.
#include <mpi.h>
#include <stdlib.h>

#include "clock.h"
#include "flag_exchange.h"
#include "output.h"

struct plan {
  struct point point[COLLECTIVES * MAX_POINTS];
  int calls[COLLECTIVES * MAX_POINTS];
  int points;
};

static void add(struct plan* plan, enum collective what, size_t bytes) {
  plan->point[plan->points++] = (struct point){what, bytes, 0};
}

static void list_points(struct plan* plan, const struct options* o) {
  if (o->wanted[BARRIER]) add(plan, BARRIER, 0);
  for (int c = BCAST; c < COLLECTIVES; ++c)
    for (int s = 0; o->wanted[c] && s < o->sizes; ++s) add(plan, c, o->bytes[s]);
}

static size_t largest(const struct options* o) {
  size_t most = 4096;
  for (int s = 0; s < o->sizes; ++s)
    if (o->bytes[s] > most) most = o->bytes[s];
  return most;
}

// As many calls as the quicker side deserves, but no more than twice what the slower one gets.
static void count_calls(struct bench* b, struct plan* plan, const struct options* o) {
  for (int i = 0; i < plan->points; ++i) {
    const int host = measure_plan(b, &plan->point[i], HOST);
    const int other = o->host_only ? host : measure_plan(b, &plan->point[i], ESPALIER);
    const int few = host < other ? host : other, many = host < other ? other : host;
    plan->calls[i] = many < 2 * few ? many : 2 * few;
  }
}

static void one_round(struct bench* b, const struct options* o, const struct plan* plan, int i, int round,
                      FILE* out) {
  struct round_result r = {.point = plan->point[i], .round = round, .calls = plan->calls[i]};
  r.point.root = o->rotate_roots ? round % b->team.size : 0;
  r.espalier_first = !o->host_only && round % 2;
  const enum side first = r.espalier_first ? ESPALIER : HOST, second = r.espalier_first ? HOST : ESPALIER;
  r.flag_ns[0] = flag_exchange_ns(&b->team);
  r.side[first] = measure(b, &r.point, first, r.calls);
  r.flag_ns[1] = flag_exchange_ns(&b->team);
  if (!o->host_only) r.side[second] = measure(b, &r.point, second, r.calls);
  r.flag_ns[2] = flag_exchange_ns(&b->team);
  if (out) output_round(out, &r, o->host_only);
}

static void limits_round(struct bench* b, const struct options* o, int round, FILE* out) {
  for (int s = 0; s < o->sizes; ++s) {
    const double flag_ns = flag_exchange_ns(&b->team);
    const struct limits found = limits_measure(b, o->bytes[s]);
    if (out) output_limits(out, o->bytes[s], round, &found, flag_ns);
  }
}

static int time_is_up(struct bench* b, const struct options* o, int64_t begin) {
  const double seconds = (double)(clock_kernel_ns() - begin) / 1e9;
  return o->seconds > 0 && team_agree(&b->team, seconds > o->seconds);
}

static void run(struct bench* b, const struct options* o, FILE* out) {
  struct plan plan = {.points = 0};
  const int64_t begin = clock_kernel_ns();
  int round = 0;
  list_points(&plan, o);
  count_calls(b, &plan, o);
  const double nothing = measure_nothing_us(b), offset = flag_clock_offset_ns(&b->team);
  if (out) output_run(out, b, nothing, offset, o->host_only);
  while (round < o->rounds && !(round && time_is_up(b, o, begin))) {
    for (int i = 0; i < plan.points; ++i) one_round(b, o, &plan, i, round, out);
    if (o->limits) limits_round(b, o, round, out);
    ++round;
  }
  long wrong = 0;
  PMPI_Reduce(&b->wrong, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (out) output_end(out, round, wrong);
}

static int start(struct bench* b, const struct options* o) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &b->team.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &b->team.size);
  b->reused = o->reused;
  team_pin(&b->team, o);
  b->team.area = area_make(b->team.rank, b->team.size);
  if (!b->team.area || work_make(&b->work, largest(o))) return -1;
  if (!b->team.rank) b->team.area->nanoseconds_per_tick = clock_calibrate();
  PMPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

static FILE* open_output(const struct bench* b, const struct options* o) {
  if (b->team.rank) return NULL;
  if (!o->out) return stdout;
  FILE* f = fopen(o->out, "w");
  if (!f) fprintf(stderr, "compare: cannot write %s\n", o->out);
  if (!f) PMPI_Abort(MPI_COMM_WORLD, 1);
  return f;
}

int main(int argc, char** argv) {
  struct options o;
  struct bench b = {.turn = 0};
  if (options_parse(&o, argc, argv)) return 2;
  team_pin(&b.team, &o);  // before MPI_Init: hosts and Espalier look at the affinity there
  MPI_Init(&argc, &argv);
  if (start(&b, &o)) PMPI_Abort(MPI_COMM_WORLD, 1);
  FILE* out = open_output(&b, &o);
  run(&b, &o, out);
  if (out) fclose(out);
  MPI_Finalize();
  return 0;
}
