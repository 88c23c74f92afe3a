// Candidate plans, the default and the host in one process, in turns, on the same buffers. Every trial has a
// communicator of its own: Espalier settles the plans of a communicator when its first collective makes it, by the
// rules whose "trial" is ESPALIER_RUN_TRIAL's at that moment. So a call costs what it costs in any program.
//
//     mpirun -n 4 trials --points FILE [--out FILE] [--rounds N] [--seconds S] [--shift BYTES] [--derived]
//         [--cpus ...] [--pin ...]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpi/clock.h"
#include "../mpi/flag_exchange.h"
#include "points.h"

struct run {
  struct bench b;
  struct points points;
  int calls[COLLECTIVES * MAX_POINTS][MAX_SIDES];   // of one round
  int losses[COLLECTIVES * MAX_POINTS][MAX_SIDES];  // rounds in a row in which the side was hopeless
  MPI_Comm comm[MAX_TRIALS];
  FILE* out;
};

// The name of a trial's environment is read where a communicator is made, and only with rules that have trials.
static void open_trials(struct run* r) {
  char number[16];
  for (int t = 0; t < r->points.trials; ++t) {
    snprintf(number, sizeof number, "%d", t);
    setenv("ESPALIER_RUN_TRIAL", number, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &r->comm[t]);
    MPI_Barrier(r->comm[t]);
  }
}

static void close_trials(struct run* r) {
  for (int t = 0; t < r->points.trials; ++t) MPI_Comm_free(&r->comm[t]);
}

static enum side choose(struct run* r, int side) {
  r->b.work.way.comm = side == 0 ? MPI_COMM_WORLD : r->comm[side - 1];
  return side == 0 ? HOST : ESPALIER;
}

// Each side has as many calls as it deserves: a host that takes milliseconds leaves the others theirs.
static void plan_all_calls(struct run* r) {
  for (int i = 0; i < r->points.plan.points; ++i)
    for (int k = 0; k < r->points.of[i].count; ++k)
      r->calls[i][k] = measure_plan(&r->b, &r->points.plan.point[i], choose(r, r->points.of[i].side[k]));
}

// Of the sides that took part.
static void print_list(FILE* f, const char* key, const double* values, const double* us, int count) {
  const char* comma = "";
  fprintf(f, ", \"%s\": [", key);
  for (int k = 0; k < count; ++k) {
    if (us[k] <= 0) continue;
    fprintf(f, "%s%.4f", comma, values[k]);
    comma = ", ";
  }
  fputs("]", f);
}

static void print_sides(FILE* f, const struct sides* sides, const double* us) {
  const char* comma = "";
  fputs(", \"sides\": [", f);
  for (int k = 0; k < sides->count; ++k) {
    if (us[k] <= 0) continue;
    fputs(comma, f);
    if (sides->side[k] == 0)
      fputs("\"host\"", f);
    else
      fprintf(f, "\"%d\"", sides->side[k] - 1);
    comma = ", ";
  }
  fputs("]", f);
}

static void print_round(struct run* r, int i, int round, const double* us, const double* block_us, double flag_ns) {
  const struct point* p = &r->points.plan.point[i];
  const struct sides* sides = &r->points.of[i];
  fprintf(r->out, "{\"kind\": \"trials\", \"collective\": \"%s\", \"bytes\": %zu, \"round\": %d, \"root\": %d",
          collective_name(p->what), p->bytes, round, p->root);
  double blocks = 0;
  for (int k = 0; k < sides->count; ++k) blocks += block_us[k];
  print_sides(r->out, sides, us);
  print_list(r->out, "us", us, us, sides->count);
  if (blocks > 0) print_list(r->out, "block_us", block_us, us, sides->count);
  fprintf(r->out, ", \"f_ns\": %.1f}\n", flag_ns);
  fflush(r->out);
}

// Each round begins with another side, and every other round goes the other way around, so that no side always
// follows on the same one.
static int place_of(int turn, int round, int count) {
  const int k = (turn + round) % count;
  return round % 2 ? count - 1 - k : k;
}

// A host that takes milliseconds where the others take microseconds would use up their time: a side that takes
// HOPELESS times as long as the quickest in two rounds on end takes part no more. The default, trial 0, always does.
enum { HOPELESS = 5 };

static int takes_part(const struct run* r, int i, int k) {
  return r->losses[i][k] < 2 || r->points.of[i].side[k] == 1;
}

static void count_losses(struct run* r, int i, const double* us) {
  const int count = r->points.of[i].count;
  double best = 0;
  int64_t hopeless = 0;
  for (int k = 0; k < count; ++k)
    if (us[k] > 0 && (best == 0 || us[k] < best)) best = us[k];
  for (int k = 0; k < count; ++k)
    if (us[k] > HOPELESS * best) hopeless |= INT64_C(1) << k;
  hopeless = team_agree(&r->b.team, hopeless);  // only rank 0 knows the times
  for (int k = 0; k < count; ++k)
    if (takes_part(r, i, k)) r->losses[i][k] = hopeless >> k & 1 ? r->losses[i][k] + 1 : 0;
}

static void one_round(struct run* r, int i, int round) {
  struct point* p = &r->points.plan.point[i];
  const struct sides* sides = &r->points.of[i];
  double us[MAX_SIDES] = {0}, block_us[MAX_SIDES] = {0};
  p->root = round % r->b.team.size;
  const double flag_ns = flag_exchange_ns(&r->b.team);
  for (int turn = 0; turn < sides->count; ++turn) {
    const int k = place_of(turn, round, sides->count);
    if (!takes_part(r, i, k)) continue;
    const struct timing t = measure(&r->b, p, choose(r, sides->side[k]), r->calls[i][k]);
    us[k] = t.us;
    block_us[k] = t.block_us;
  }
  if (r->out) print_round(r, i, round, us, block_us, flag_ns);
  count_losses(r, i, us);
}

static int rounds(struct run* r, const struct options* o) {
  const int64_t begin = clock_kernel_ns();
  int round = 0, up = 0;
  for (; round < o->rounds && !up; ++round)
    for (int k = 0; k < r->points.plan.points && !up; ++k) {
      one_round(r, (k + round * r->points.plan.points / 3) % r->points.plan.points, round);
      up = o->seconds > 0 &&
           team_agree(&r->b.team, (double)(clock_kernel_ns() - begin) / 1e9 > o->seconds);
    }
  return round;
}

static int start(struct run* r, const struct options* o) {
  struct team* team = &r->b.team;
  size_t send, receive;
  PMPI_Comm_rank(MPI_COMM_WORLD, &team->rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &team->size);
  r->b.work.way = (struct way){MPI_COMM_WORLD, MPI_DOUBLE};
  if (o->derived) MPI_Type_contiguous(1, MPI_DOUBLE, &r->b.work.way.type);
  if (o->derived) MPI_Type_commit(&r->b.work.way.type);
  team_pin(team, o);
  team->area = area_make(team->rank, team->size, NULL);
  if (!team->area) return -1;
  plan_buffers(&r->points.plan, o, team->size, &send, &receive);
  if (work_make(&r->b.work, send + (size_t)o->shift, receive + (size_t)o->shift, 0)) return -1;
  r->b.work.send += o->shift / (int)sizeof(double);
  r->b.work.receive += o->shift / (int)sizeof(double);
  if (!team->rank) team->area->nanoseconds_per_tick = clock_calibrate();
  PMPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

static void print_run(struct run* r) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n")] = 0;
  for (char* c = version; *c; ++c)
    if (*c == '"' || *c == '\\' || (unsigned char)*c < 32) *c = ' ';
  fprintf(r->out, "{\"kind\": \"run\", \"ranks\": %d, \"cores\": %d, \"pinned\": %s, \"host_version\": \"%s\"}\n",
          r->b.team.size, r->b.team.cores, r->b.team.pinned ? "true" : "false", version);
  fflush(r->out);
}

static void try_all(struct run* r, const struct options* o) {
  if (r->out) print_run(r);
  open_trials(r);
  plan_all_calls(r);
  const int done = rounds(r, o);
  long wrong = 0;
  PMPI_Reduce(&r->b.wrong, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (r->out) fprintf(r->out, "{\"kind\": \"end\", \"rounds\": %d, \"wrong\": %ld}\n", done, wrong);
  if (r->out) fclose(r->out);
  close_trials(r);
}

int main(int argc, char** argv) {
  static struct run r;  // large
  struct options o;
  if (options_parse(&o, argc, argv) || !o.points || points_read(&r.points, o.points)) return 2;
  team_pin(&r.b.team, &o);  // before MPI_Init, as in compare.c
  MPI_Init(&argc, &argv);
  if (start(&r, &o)) PMPI_Abort(MPI_COMM_WORLD, 1);
  const int fails = team_open(&r.b.team, "trials", o.out, &r.out);
  if (!fails) try_all(&r, &o);
  MPI_Finalize();
  return fails;
}
