// The points of a run, in order, and how many calls of each make a round.
#ifndef ESPALIER_BENCH_PLAN_H
#define ESPALIER_BENCH_PLAN_H

#include "measure.h"

struct plan {
  struct point point[COLLECTIVES * MAX_POINTS];
  int calls[COLLECTIVES * MAX_POINTS];
  int points;
  struct point left_out[COLLECTIVES * MAX_POINTS];  // their buffers would need more memory than allowed
  int left;
};

void plan_list(struct plan* plan, const struct options* o, int size);

// The longest buffers that the points need.
void plan_buffers(const struct plan* plan, const struct options* o, int size, size_t* send, size_t* receive);

// Fills in `calls` from a few trial calls; on all ranks.
void plan_calls(struct plan* plan, const struct options* o, struct bench* b);

#endif
