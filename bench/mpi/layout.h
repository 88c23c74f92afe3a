// What each rank puts into a call and gets out of it, in elements (doubles), for one point and one rank.
#ifndef ESPALIER_BENCH_LAYOUT_H
#define ESPALIER_BENCH_LAYOUT_H

#include <stddef.h>

#include "area.h"
#include "collective.h"

// How long the blocks of an allgatherv, gatherv, scatterv or reduce_scatter are.
enum shape {
  DECREASING,  // linearly
  REGULAR,     // all alike
  ONE,         // all data at rank 0
};

struct point {
  enum collective what;
  size_t bytes;  // what one rank contributes; 0 for the barrier (bench/README.md says it for each)
  int root;
  enum shape shape;
};

// One block for each rank, or for each edge, one after the other.
struct blocks {
  int count[MAX_RANKS], at[MAX_RANKS];
  int at_bytes[MAX_RANKS];
  int total;
};

struct layout {
  int mine;  // elements of this rank's own block, or of its vector
  struct blocks
      send;  // where the sent data is in blocks (scatter, alltoall, reduce_scatter); else only `total`
  struct blocks receive;
};

void layout_make(struct layout* layout, const struct point* p, int rank, int size);

// The most that any rank needs of send and receive buffer together.
size_t layout_bytes(const struct point* p, int size);

#endif
