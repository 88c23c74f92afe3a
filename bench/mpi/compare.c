// The host MPI (PMPI names) and Espalier (MPI names, when it is preloaded) in one process, in turns, on the
// same buffers. bench/README.md says what is timed and why.
#include <mpi.h>
#include <stdlib.h>

#include "clock.h"
#include "flag_exchange.h"
#include "output.h"
#include "progress.h"
#include "session.h"

// The sides take turns; with rotating roots so that each root meets both orders.
static int espalier_first(const struct bench* b, const struct options* o, int round) {
  if (o->host_only) return 0;
  return o->rotate_roots ? (round % b->team.size + round / b->team.size) % 2 : round % 2;
}

static void one_round(struct bench* b, const struct options* o, const struct plan* plan, int i, int round,
                      FILE* out) {
  struct round_result r = {.point = plan->point[i], .round = round, .calls = plan->calls[i]};
  r.point.root = o->rotate_roots ? round % b->team.size : 0;
  r.espalier_first = espalier_first(b, o, round);
  const enum side first = r.espalier_first ? ESPALIER : HOST, second = r.espalier_first ? HOST : ESPALIER;
  r.flag_ns[0] = flag_exchange_ns(&b->team);
  r.side[first] = measure(b, &r.point, first, r.calls);
  r.flag_ns[1] = flag_exchange_ns(&b->team);
  if (!o->host_only) r.side[second] = measure(b, &r.point, second, r.calls);
  r.flag_ns[2] = flag_exchange_ns(&b->team);
  if (out) output_round(out, &r, o->host_only);
}

// The two sides' blocks of single calls, the one first that was second in the round before.
static void each_round(struct bench* b, const struct options* o, const struct plan* plan, int i, int round,
                       FILE* out) {
  const int calls = o->late_us > 0 ? MAX_CALLS / 4 : MAX_CALLS;
  double us[MAX_CALLS];
  for (int turn = 0; turn < (o->host_only ? 1 : SIDES); ++turn) {
    const enum side side = o->host_only || (round + turn) % 2 == 0 ? HOST : ESPALIER;
    const double flag_ns = flag_exchange_ns(&b->team);
    measure_each(b, &plan->point[i], side, calls, out ? us : NULL);
    if (out) output_each(out, &plan->point[i], round, side, calls, us, flag_ns);
  }
}

static void limits_round(struct bench* b, const struct options* o, int round, FILE* out) {
  if (b->team.oversubscribed) {
    const double flag_ns = flag_exchange_ns(&b->team);
    const struct switches found = switches_measure(&b->team);
    if (out) output_switches(out, round, &found, flag_ns);
    return;
  }
  for (int s = 0; s < o->sizes; ++s) {
    const double flag_ns = flag_exchange_ns(&b->team);
    const struct limits found = limits_measure(b, o->bytes[s]);
    if (out) output_limits(out, o->bytes[s], round, &found, flag_ns);
  }
}

// Lengths that show the latency, the time a byte takes, and where the host changes its protocol.
static void messages_run(struct bench* b, const struct nodes* nodes, FILE* out) {
  static const size_t bytes[] = {8, 1024, 8192, 32768, 65536, 262144, LONGEST_MESSAGE};
  for (int between = 0; between < 2; ++between) {
    const int partner = nodes_partner(nodes, b->team.size, !between);
    for (size_t i = 0; partner > 0 && i < sizeof bytes / sizeof *bytes; ++i) {
      struct messages found;
      messages_measure(b, partner, bytes[i], &found);
      if (out) output_messages(out, between, bytes[i], &found);
    }
  }
}

static int time_is_up(struct bench* b, const struct options* o, int64_t begin) {
  const double seconds = (double)(clock_kernel_ns() - begin) / 1e9;
  return o->seconds > 0 && team_agree(&b->team, seconds > o->seconds);
}

// Every later round begins further on, so that a time that is up does not always cost the same points theirs.
static int rounds_of_points(struct bench* b, const struct options* o, const struct plan* plan, FILE* out) {
  const int64_t begin = clock_kernel_ns();
  int round = 0, up = 0;
  for (; round < o->rounds && !up; ++round) {
    if (o->limits) limits_round(b, o, round, out);
    for (int k = 0; k < plan->points && !up; ++k) {
      const int i = (k + round * plan->points / 3) % plan->points;
      (o->each ? each_round : one_round)(b, o, plan, i, round, out);
      up = round > 0 && time_is_up(b, o, begin);
    }
    up = up || time_is_up(b, o, begin);
  }
  return round;
}

static void run(struct bench* b, const struct options* o, struct plan* plan, FILE* out) {
  struct run_facts facts = {.shared_session = session_is_shared(b->team.rank),
                            .own_sessions = session_is_own(b->team.rank),
                            .autogroup = session_is_autogroup()};
  int rounds = 0;
  nodes_find(&facts.nodes, b->team.rank, b->team.size);
  facts.nothing_us = measure_nothing_us(b);
  facts.clock_offset_ns = flag_clock_offset_ns(&b->team);
  if (out) output_run(out, b, o, plan, &facts);
  if (o->messages) messages_run(b, &facts.nodes, out);
  if (o->calls_only) {
    for (int i = 0; i < plan->points; ++i) measure_call_once(b, &plan->point[i]);
  } else {
    if (!o->each) plan_calls(plan, o, b);
    rounds = rounds_of_points(b, o, plan, out);
  }
  long wrong = 0;
  PMPI_Reduce(&b->wrong, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (out) output_end(out, rounds, wrong);
}

static int start(struct bench* b, const struct options* o, struct plan* plan) {
  size_t send, receive;
  PMPI_Comm_rank(MPI_COMM_WORLD, &b->team.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &b->team.size);
  b->reused = o->reused;
  b->allocated = o->allocated;
  b->late_us = o->late_us;
  b->work.mode = o->persistent ? PERSISTENT : o->nonblocking ? NONBLOCKING : BLOCKING;
  b->work.way = (struct way){MPI_COMM_WORLD, MPI_DOUBLE};
  calls_open();
  team_pin(&b->team, o);
  b->team.area = area_make(b->team.rank, b->team.size, o->area);
  if (!b->team.area) return -1;
  plan_list(plan, o, b->team.size);
  plan_buffers(plan, o, b->team.size, &send, &receive);
  b->team.apart = o->area != NULL;
  if (b->team.apart) progress_open();
  if (work_make(&b->work, send, receive, o->allocated)) return -1;
  if (!b->team.rank) b->team.area->nanoseconds_per_tick = clock_calibrate();
  PMPI_Barrier(MPI_COMM_WORLD);
  b->work.compute_ticks = (int64_t)(o->compute_us * 1000 / b->team.area->nanoseconds_per_tick);
  b->team.weak_yields = (int)team_agree(
      &b->team, b->team.oversubscribed && session_is_autogroup() && !session_is_shared(b->team.rank));
  return 0;
}

int main(int argc, char** argv) {
  static struct bench b;  // large, as the plan is
  static struct plan plan;
  struct options o;
  if (options_parse(&o, argc, argv)) return 2;
  if (o.own_sessions && session_leave())
    fprintf(stderr, "compare: this rank cannot leave its launcher's session (--sessions own)\n");
  team_pin(&b.team, &o);  // before MPI_Init: hosts and Espalier look at the affinity there
  MPI_Init(&argc, &argv);
  if (start(&b, &o, &plan)) PMPI_Abort(MPI_COMM_WORLD, 1);
  FILE* out;
  const int fails = team_open(&b.team, "compare", o.out, &out);
  if (!fails) run(&b, &o, &plan, out);
  if (out) fclose(out);
  progress_close();
  MPI_Finalize();
  return fails;
}
