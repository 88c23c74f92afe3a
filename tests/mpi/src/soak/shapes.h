/* What each collective reads and writes, as blocks. */
#ifndef SOAK_SHAPES_H
#define SOAK_SHAPES_H

#include <stdlib.h>

#include "shortage.h"
#include "step.h"
#include "values.h"

/* So many items from a place of a buffer on; their values are the fold of what the ranks `first` to `last` send to
   `destination`. */
typedef struct {
  long at, count;
  int first, last, destination;
} Block;

typedef struct {
  Block* block;
  int blocks;
  long items; /* of the buffer */
} Side;

/* What a rank sees of a communicator. */
typedef struct {
  MPI_Comm comm;
  int rank, size;
  int is_inter, group, remote; /* which of the two groups this rank is in; ranks of the other */
  int in, out, *from, *to;     /* neighbours */
} View;

typedef struct {
  Side send, receive;
  int *send_counts, *send_places, *receive_counts, *receive_places; /* of the forms with counts; in items */
  int reads_receive;  /* in place, or a bcast's root: what it sends lies in the receive buffer */
  int is_free_behind; /* in place: what lies behind the result is undefined */
  int receives;       /* else no receive buffer */
} Shape;

static void add(Side* side, long at, long count, int first, int last, int destination) {
  side->block = take_again(side->block, sizeof(Block) * (size_t)(side->blocks + 1));
  side->block[side->blocks++] = (Block){at, count, first, last, destination};
  if (at + count > side->items) side->items = at + count;
}

/* For the forms with counts: between 0 and twice `count`; equal in both directions, as in place asks for. */
static int count_of(const Step* s, int a, int b) {
  const int low = a < b ? a : b, high = a < b ? b : a;
  return (int)(bits(s->seed, 77, (uint64_t)(low * 1024 + high), 0) % (uint64_t)(2 * s->count + 1));
}

/* Blocks side by side, with gaps in the forms with counts. */
static void lay_out(const Step* s, int n, int* counts, int* places) {
  long at = 0;
  for (int r = 0; r < n; ++r) {
    at += (long)(bits(s->seed, 78, (uint64_t)r, 0) % 3);
    places[r] = (int)at;
    at += counts[r];
  }
}

static int with_counts(int verb) {
  return verb == GATHERV || verb == SCATTERV || verb == ALLGATHERV || verb == ALLTOALLV || verb == ALLTOALLW ||
         verb == REDUCE_SCATTER;
}

static void set_counts(const Step* s, const View* v, Shape* shape) {
  const size_t bytes = sizeof(int) * (size_t)(v->size + v->in + v->out + 1);
  int** all[] = {&shape->send_counts, &shape->send_places, &shape->receive_counts, &shape->receive_places};
  for (int i = 0; i < 4; ++i) *all[i] = memset(take(bytes), 0, bytes);
  const int each = (int)s->count, exchange = s->verb == ALLTOALLV || s->verb == ALLTOALLW;
  for (int r = 0; r < v->size; ++r) {
    const int count = !with_counts(s->verb) ? each : exchange ? count_of(s, v->rank, r) : count_of(s, r, r);
    shape->send_counts[r] = shape->receive_counts[r] = count;
    shape->send_places[r] = shape->receive_places[r] = r * each;
  }
  if (with_counts(s->verb) && s->verb != REDUCE_SCATTER) {
    lay_out(s, v->size, shape->send_counts, shape->send_places);
    lay_out(s, v->size, shape->receive_counts, shape->receive_places);
  }
  if (s->verb == REDUCE_SCATTER)
    for (int r = 0, at = 0; r < v->size; at += shape->send_counts[r++]) shape->send_places[r] = at;
}

static void shape_of_reduction(const Step* s, const View* v, int root, Shape* shape) {
  const int scattered = s->verb == REDUCE_SCATTER || s->verb == REDUCE_SCATTER_BLOCK;
  if (scattered) {
    for (int r = 0; r < v->size; ++r) add(&shape->send, shape->send_places[r], shape->send_counts[r], v->rank, v->rank, r);
    add(&shape->receive, 0, shape->send_counts[v->rank], 0, v->size - 1, v->rank);
    shape->is_free_behind = shape->reads_receive;
    return;
  }
  const int base = v->is_inter ? 1000 * (1 - v->group) : 0, own = v->is_inter ? 1000 * v->group : 0;
  const int n = v->is_inter ? v->remote : v->size;
  add(&shape->send, 0, s->count, own + v->rank, own + v->rank, 0);
  shape->receives = s->verb != REDUCE || v->rank == root;
  if (!shape->receives) return;
  const int last = s->verb == SCAN ? v->rank : s->verb == EXSCAN ? v->rank - 1 : n - 1;
  if (last >= 0) add(&shape->receive, 0, s->count, base, base + last, 0);
  shape->is_free_behind = last < 0; /* EXSCAN's first rank */
  if (last < 0) shape->receive.items = s->count;
}

static void shape_of_move(const Step* s, const View* v, int root, Shape* shape) {
  const int me = v->rank, gathers = s->verb == GATHER || s->verb == GATHERV, scatters = s->verb == SCATTER || s->verb == SCATTERV;
  const int spreads = s->verb == ALLGATHER || s->verb == ALLGATHERV;
  if (gathers || spreads) {
    const int at = shape->reads_receive ? shape->receive_places[me] : 0;
    add(&shape->send, at, shape->receive_counts[me], me, me, 0);
    shape->receives = spreads || me == root;
    for (int r = 0; shape->receives && r < v->size; ++r)
      add(&shape->receive, shape->receive_places[r], shape->receive_counts[r], r, r, 0);
  } else if (scatters) {
    for (int r = 0; me == root && r < v->size; ++r)
      add(&shape->send, shape->send_places[r], shape->send_counts[r], root, root, r);
    shape->receives = !(s->in_place && me == root);
    if (shape->receives) add(&shape->receive, 0, shape->receive_counts[me], root, root, me);
  } else {
    for (int r = 0; r < v->size; ++r) add(&shape->send, shape->send_places[r], shape->send_counts[r], me, me, r);
    for (int r = 0; r < v->size; ++r) add(&shape->receive, shape->receive_places[r], shape->receive_counts[r], r, r, me);
  }
}

static void shape_of_neighbours(const Step* s, const View* v, Shape* shape) {
  const int exchange = s->verb == NEIGHBOR_ALLTOALL;
  for (int i = 0; exchange && i < v->out; ++i)
    if (v->to[i] != MPI_PROC_NULL) add(&shape->send, i * s->count, s->count, v->rank, v->rank, v->to[i]);
  if (!exchange) add(&shape->send, 0, s->count, v->rank, v->rank, 0);
  for (int i = 0; i < v->in; ++i)
    if (v->from[i] != MPI_PROC_NULL)
      add(&shape->receive, i * s->count, s->count, v->from[i], v->from[i], exchange ? v->rank : 0);
  shape->send.items = exchange ? v->out * s->count : s->count;
  shape->receive.items = v->in * s->count;
}

/* Whether the call reads from the receive buffer on this rank. */
static int reads_receive(const Step* s, const View* v, int root) {
  const int rooted = s->verb == REDUCE || s->verb == GATHER || s->verb == GATHERV;
  if (s->verb == SCATTER || s->verb == SCATTERV) return 0;
  return s->in_place && !v->is_inter && (!rooted || v->rank == root);
}

static Shape shape_of(const Step* s, const View* v, int root) {
  Shape shape = {.receives = 1};
  set_counts(s, v, &shape);
  shape.reads_receive = reads_receive(s, v, root);
  if (s->verb == BCAST) {
    const int from = v->is_inter ? 1000 : 0, sends = v->is_inter ? v->group && v->rank == root : v->rank == root;
    shape.reads_receive = sends;
    if (sends) add(&shape.send, 0, s->count, from + root, from + root, 0);
    shape.receives = !v->is_inter || !v->group || sends;
    if (shape.receives) add(&shape.receive, 0, s->count, from + root, from + root, 0);
  } else if (s->verb == NEIGHBOR_ALLGATHER || s->verb == NEIGHBOR_ALLTOALL) {
    shape_of_neighbours(s, v, &shape);
  } else if (s->verb == REDUCE || s->verb == ALLREDUCE || s->verb == SCAN || s->verb == EXSCAN || s->verb == REDUCE_SCATTER ||
             s->verb == REDUCE_SCATTER_BLOCK) {
    shape_of_reduction(s, v, root, &shape);
  } else if (s->verb != BARRIER) {
    shape_of_move(s, v, root, &shape);
  }
  return shape;
}

static void free_shape(Shape* shape) {
  free(shape->send.block), free(shape->receive.block);
  free(shape->send_counts), free(shape->send_places), free(shape->receive_counts), free(shape->receive_places);
}

#endif
