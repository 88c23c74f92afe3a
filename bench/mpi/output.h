// What rank 0 writes: one JSON object a line. bench/README.md describes the fields.
#ifndef ESPALIER_BENCH_OUTPUT_H
#define ESPALIER_BENCH_OUTPUT_H

#include <stdio.h>

#include "limits.h"
#include "messages.h"
#include "nodes.h"
#include "plan.h"
#include "switches.h"

struct round_result {
  struct point point;
  int round, calls;
  int espalier_first;
  struct timing side[SIDES];
  double flag_ns[3];  // before, between, after
};

// What is known once the ranks have met.
struct run_facts {
  double nothing_us, clock_offset_ns;
  int shared_session, own_sessions, autogroup;
  struct nodes nodes;
};

void output_run(FILE* f, const struct bench* b, const struct options* o, const struct plan* plan,
                const struct run_facts* facts);
void output_round(FILE* f, const struct round_result* r, int host_only);
void output_each(FILE* f, const struct point* p, int round, enum side side, int calls, const double* us,
                 double flag_ns);
void output_limits(FILE* f, size_t bytes, int round, const struct limits* l, double flag_ns);
void output_switches(FILE* f, int round, const struct switches* s, double flag_ns);
void output_messages(FILE* f, int between_nodes, size_t bytes, const struct messages* m);
void output_end(FILE* f, int rounds, long wrong);

#endif
