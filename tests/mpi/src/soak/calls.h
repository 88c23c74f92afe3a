/* A collective call: buffers, the call in one of its forms, and the comparison. */
#ifndef SOAK_CALLS_H
#define SOAK_CALLS_H

#include <pthread.h>
#include <stdio.h>

#include "shapes.h"
#include "shortage.h"

enum { GUARD = 64, FRESH = 0x5a }; /* bytes behind each buffer; what is in it before */

typedef struct {
  Step step;
  View view;
  Shape shape;
  int root;
  char *send, *receive, *send_want, *receive_want;
  size_t send_bytes, receive_bytes;
  MPI_Datatype* each; /* ALLTOALLW */
  int *send_at, *receive_at;
  MPI_Request request;
} Work;

static long calls_done, calls_wrong;
static uint64_t digest; /* of results, whatever the order of threads */
static int world_rank;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static const char* name_of(int verb) {
#define TEXT(name) #name,
  static const char* const names[] = {VERBS(TEXT)};
  return names[verb];
}

static void count(const Step* s, int is_right, const char* what, long byte) {
  pthread_mutex_lock(&counting);
  ++calls_done;
  if (!is_right) {
    ++calls_wrong;
    fprintf(stderr, "WRONG: rank %d: %s on communicator %d, count %ld, seed %llu: %s differs at byte %ld\n", world_rank,
            name_of(s->verb), s->comm, s->count, s->seed, what, byte);
  }
  pthread_mutex_unlock(&counting);
}

static void fill(const Step* s, char* buffer, const Side* side, int folds) {
  const int op = folds ? s->op : SUM;
  for (int b = 0; b < side->blocks; ++b)
    for (long i = 0; i < side->block[b].count; ++i) {
      const Block* block = &side->block[b];
      Item item = value(op, s->type, s->seed, block->first, block->destination, i);
      for (int r = block->first + 1; r <= block->last; ++r)
        item = fold(op, s->type, item, value(op, s->type, s->seed, r, block->destination, i));
      put(s->type, buffer, block->at + i, item);
    }
}

static int reduces(int verb) {
  return verb == REDUCE || verb == ALLREDUCE || verb == SCAN || verb == EXSCAN || verb == REDUCE_SCATTER ||
         verb == REDUCE_SCATTER_BLOCK;
}

static void reset_buffers(Work* w) {
  memset(w->send, FRESH, w->send_bytes);
  memset(w->receive, FRESH, w->receive_bytes);
  fill(&w->step, w->shape.reads_receive ? w->receive : w->send, &w->shape.send, reduces(w->step.verb));
}

static void prepare(Work* w) {
  Shape* shape = &w->shape;
  const Type* t = &types[w->step.type];
  const size_t item = (size_t)(t->cell * t->extent);
  const long receive = shape->reads_receive && shape->send.items > shape->receive.items ? shape->send.items : shape->receive.items;
  w->send_bytes = (size_t)shape->send.items * item + GUARD;
  w->receive_bytes = (size_t)receive * item + GUARD;
  w->send = take(w->send_bytes), w->send_want = take(w->send_bytes);
  w->receive = take(w->receive_bytes), w->receive_want = take(w->receive_bytes);
  reset_buffers(w);
  memcpy(w->send_want, w->send, w->send_bytes);
  memcpy(w->receive_want, w->receive, w->receive_bytes);
  if (shape->receives) fill(&w->step, w->receive_want, &shape->receive, reduces(w->step.verb));
  if (w->step.verb != ALLTOALLW) return;
  const size_t n = (size_t)w->view.size;
  w->each = take(sizeof(MPI_Datatype) * n), w->send_at = take(sizeof(int) * n), w->receive_at = take(sizeof(int) * n);
  for (size_t r = 0; r < n; ++r) {
    w->each[r] = t->type;
    w->send_at[r] = shape->send_places[r] * (int)item;
    w->receive_at[r] = shape->receive_places[r] * (int)item;
  }
}

/* The three forms of one collective: its name, that of the nonblocking form, and the arguments. */
#if MPI_VERSION >= 4
#define FORMS(blocking, nonblocking, ...)                                                       \
  do {                                                                                          \
    if (w->step.form == BLOCKING) MPI_##blocking(__VA_ARGS__, w->view.comm);                    \
    if (w->step.form == NONBLOCKING) MPI_##nonblocking(__VA_ARGS__, w->view.comm, &w->request); \
    if (w->step.form == PERSISTENT)                                                             \
      MPI_##blocking##_init(__VA_ARGS__, w->view.comm, MPI_INFO_NULL, &w->request);             \
  } while (0)
#else
#define FORMS(blocking, nonblocking, ...)                                                    \
  do {                                                                                       \
    if (w->step.form == BLOCKING) MPI_##blocking(__VA_ARGS__, w->view.comm);                 \
    if (w->step.form != BLOCKING) MPI_##nonblocking(__VA_ARGS__, w->view.comm, &w->request); \
  } while (0)
#endif

static void call_barrier(Work* w) {
  if (w->step.form == BLOCKING) MPI_Barrier(w->view.comm);
  if (w->step.form == NONBLOCKING) MPI_Ibarrier(w->view.comm, &w->request);
#if MPI_VERSION >= 4
  if (w->step.form == PERSISTENT) MPI_Barrier_init(w->view.comm, MPI_INFO_NULL, &w->request);
#else
  if (w->step.form == PERSISTENT) MPI_Ibarrier(w->view.comm, &w->request);
#endif
}

static void call(Work* w) {
  const Step* s = &w->step;
  const Shape* h = &w->shape;
  const View* v = &w->view;
  const MPI_Datatype t = types[s->type].type;
  const MPI_Op op = ops[s->op];
  const int n = (int)s->count, me = v->rank;
  const int* c = h->receive_counts;
  const int in_place = h->reads_receive && s->verb != BCAST;
  void *send = in_place ? MPI_IN_PLACE : w->send, *receive = w->receive;
  int root = w->root;
  if (v->is_inter && s->verb == BCAST && v->group) root = me == root ? MPI_ROOT : MPI_PROC_NULL;
  if ((s->verb == SCATTER || s->verb == SCATTERV) && s->in_place && me == root) receive = MPI_IN_PLACE;
  switch (s->verb) {
    case BARRIER: call_barrier(w); break;
    case BCAST: FORMS(Bcast, Ibcast, receive, n, t, root); break;
    case REDUCE: FORMS(Reduce, Ireduce, send, receive, n, t, op, root); break;
    case ALLREDUCE: FORMS(Allreduce, Iallreduce, send, receive, n, t, op); break;
    case SCAN: FORMS(Scan, Iscan, send, receive, n, t, op); break;
    case EXSCAN: FORMS(Exscan, Iexscan, send, receive, n, t, op); break;
    case GATHER: FORMS(Gather, Igather, send, n, t, receive, n, t, root); break;
    case GATHERV: FORMS(Gatherv, Igatherv, send, c[me], t, receive, c, h->receive_places, t, root); break;
    case SCATTER: FORMS(Scatter, Iscatter, send, n, t, receive, n, t, root); break;
    case SCATTERV:
      FORMS(Scatterv, Iscatterv, send, h->send_counts, h->send_places, t, receive, c[me], t, root);
      break;
    case ALLGATHER: FORMS(Allgather, Iallgather, send, n, t, receive, n, t); break;
    case ALLGATHERV: FORMS(Allgatherv, Iallgatherv, send, c[me], t, receive, c, h->receive_places, t); break;
    case ALLTOALL: FORMS(Alltoall, Ialltoall, send, n, t, receive, n, t); break;
    case ALLTOALLV:
      FORMS(Alltoallv, Ialltoallv, send, h->send_counts, h->send_places, t, receive, c, h->receive_places, t);
      break;
    case ALLTOALLW:
      FORMS(Alltoallw, Ialltoallw, send, h->send_counts, w->send_at, w->each, receive, c, w->receive_at, w->each);
      break;
    case REDUCE_SCATTER: FORMS(Reduce_scatter, Ireduce_scatter, send, receive, h->send_counts, t, op); break;
    case REDUCE_SCATTER_BLOCK:
      FORMS(Reduce_scatter_block, Ireduce_scatter_block, send, receive, n, t, op);
      break;
    case NEIGHBOR_ALLGATHER: FORMS(Neighbor_allgather, Ineighbor_allgather, send, n, t, receive, n, t); break;
    case NEIGHBOR_ALLTOALL: FORMS(Neighbor_alltoall, Ineighbor_alltoall, send, n, t, receive, n, t); break;
    default: break;
  }
#if MPI_VERSION >= 4
  if (s->form == PERSISTENT) MPI_Start(&w->request);
#endif
}

static long difference(const char* want, const char* got, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (want[i] != got[i]) return (long)i;
  return -1;
}

static void compare(Work* w) {
  const Type* t = &types[w->step.type];
  const size_t item = (size_t)(t->cell * t->extent), end = w->receive_bytes - GUARD;
  size_t defined = end;
  if (w->shape.is_free_behind) defined = w->shape.receive.blocks ? (size_t)w->shape.receive.block[0].count * item : 0;
  memcpy(w->receive_want + defined, w->receive + defined, end - defined);
  long at = difference(w->receive_want, w->receive, w->receive_bytes);
  const long sent = difference(w->send_want, w->send, w->send_bytes);
  count(&w->step, at < 0 && sent < 0, at >= 0 ? "the receive buffer" : "the send buffer", at >= 0 ? at : sent);
  uint64_t sum = 0;
  for (size_t i = 0; i < defined; ++i) sum = (sum ^ (unsigned char)w->receive[i]) * 0x100000001b3u;
  pthread_mutex_lock(&counting);
  digest += bits(w->step.seed, sum, (uint64_t)world_rank, (uint64_t)w->step.verb);
  pthread_mutex_unlock(&counting);
}

static void begin_call(Work* w) {
  w->request = MPI_REQUEST_NULL;
  prepare(w);
  call(w);
}

static void finish_call(Work* w) {
  if (w->step.form != BLOCKING) MPI_Wait(&w->request, MPI_STATUS_IGNORE);
  compare(w);
#if MPI_VERSION >= 4
  if (w->step.form == PERSISTENT) { /* once more, from the same buffers */
    reset_buffers(w);
    MPI_Start(&w->request);
    MPI_Wait(&w->request, MPI_STATUS_IGNORE);
    compare(w);
    MPI_Request_free(&w->request);
  }
#endif
  free(w->send), free(w->receive), free(w->send_want), free(w->receive_want);
  free(w->each), free(w->send_at), free(w->receive_at);
  free_shape(&w->shape);
  free(w->view.from), free(w->view.to);
}

#endif
