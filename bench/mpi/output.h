// What rank 0 writes: one JSON object a line. bench/README.md describes the fields.
#ifndef ESPALIER_BENCH_OUTPUT_H
#define ESPALIER_BENCH_OUTPUT_H

#include <stdio.h>

#include "limits.h"

struct round_result {
  struct point point;
  int round, calls;
  int espalier_first;
  struct timing side[SIDES];
  double flag_ns[3];  // before, between, after
};

void output_run(FILE* f, const struct bench* b, double nothing_us, double offset_ns, int host_only);
void output_round(FILE* f, const struct round_result* r, int host_only);
void output_limits(FILE* f, size_t bytes, int round, const struct limits* l, double flag_ns);
void output_end(FILE* f, int rounds, long wrong);

#endif
