#include "layout.h"

#include <limits.h>
#include <stdint.h>

static int at_least_one(size_t elements) { return elements ? (int)elements : 1; }

// Linearly decreasing: the block at distance 0 is twice as long as the mean (nearly), the last one shortest.
// No block is empty, so that every rank waits for every other one.
static int decreasing(int mean, int distance, int size) {
  const long long twice = 2LL * mean * (size - distance);
  return at_least_one((size_t)((twice + (size + 1) / 2) / (size + 1)));
}

static void place(struct blocks* b, int size) {
  b->total = 0;
  for (int r = 0; r < size; ++r) {
    b->at[r] = b->total;
    b->at_bytes[r] = (int)((size_t)b->total * sizeof(double));
    b->total += b->count[r];
  }
}

static void even(struct blocks* b, int each, int size) {
  for (int r = 0; r < size; ++r) b->count[r] = each;
  place(b, size);
}

static void by_rank(struct blocks* b, int mean, enum shape shape, int size) {
  if (shape == REGULAR) return even(b, mean, size);
  for (int r = 0; r < size; ++r)
    b->count[r] = shape == DECREASING ? decreasing(mean, r, size) : r == 0 ? mean * size : 0;
  place(b, size);
}

// To itself a rank sends most, to its left neighbour least: all ranks send the same in total.
static void by_distance(struct layout* l, int mean, int rank, int size) {
  for (int r = 0; r < size; ++r) {
    l->send.count[r] = decreasing(mean, (r - rank + size) % size, size);
    l->receive.count[r] = decreasing(mean, (rank - r + size) % size, size);
  }
  place(&l->send, size);
  place(&l->receive, size);
}

void layout_make(struct layout* l, const struct point* p, int rank, int size) {
  const int n = (int)(p->bytes / sizeof(double)),
            share = at_least_one(p->bytes / sizeof(double) / (size_t)size);
  l->mine = l->send.total = l->receive.total = n;
  switch (p->what) {
    case ALLGATHER:
    case GATHER:
      even(&l->receive, n, size);
      break;
    case ALLGATHERV:
    case GATHERV:
      by_rank(&l->receive, n, p->shape, size);
      l->mine = l->send.total = l->receive.count[rank];
      break;
    case SCATTER:
      even(&l->send, n, size);
      break;
    case SCATTERV:
      by_rank(&l->send, n, p->shape, size);
      l->mine = l->receive.total = l->send.count[rank];
      break;
    case ALLTOALL:
      even(&l->send, share, size);
      even(&l->receive, share, size);
      l->mine = share;
      break;
    case ALLTOALLV:
    case ALLTOALLW:
      by_distance(l, share, rank, size);
      break;
    case NEIGHBOR_ALLGATHER:
    case NEIGHBOR_ALLGATHERV:
      even(&l->receive, n, EDGES);
      break;
    case NEIGHBOR_ALLTOALL:
    case NEIGHBOR_ALLTOALLV:
    case NEIGHBOR_ALLTOALLW:
      l->mine = at_least_one(p->bytes / sizeof(double) / EDGES);
      even(&l->send, l->mine, EDGES);
      even(&l->receive, l->mine, EDGES);
      break;
    case REDUCE_SCATTER_BLOCK:
      even(&l->send, share, size);
      l->mine = l->receive.total = share;
      break;
    case REDUCE_SCATTER:
      by_rank(&l->send, share, p->shape, size);
      l->mine = l->receive.total = l->send.count[rank];
      break;
    default:
      break;
  }
}

size_t layout_bytes(const struct point* p, int size) {
  static struct layout l;  // large for a stack
  size_t most = 0;
  if (2 * (p->bytes / sizeof(double) + 1) * (size_t)size > INT_MAX) return SIZE_MAX;  // places are ints
  for (int rank = 0; rank < size; ++rank) {
    layout_make(&l, p, rank, size);
    const size_t here = ((size_t)l.send.total + (size_t)l.receive.total) * sizeof(double);
    if (here > most) most = here;
  }
  return most;
}
