/* Communicators by their numbers: how they are made, and what a rank sees of one. */
#ifndef SOAK_COMMUNICATORS_H
#define SOAK_COMMUNICATORS_H

#include <stdlib.h>

#include "shapes.h"
#include "shortage.h"

static MPI_Comm communicators[COMMUNICATORS];
static int group_of[COMMUNICATORS]; /* which of the two of an intercommunicator this rank is in */

static int is_inter(MPI_Comm comm) {
  int answer = 0;
  MPI_Comm_test_inter(comm, &answer);
  return answer;
}

static void look_for_neighbours(View* v) {
  int kind = MPI_UNDEFINED;
  if (!v->is_inter) MPI_Topo_test(v->comm, &kind);
  if (kind == MPI_CART) {
    int dimensions = 0;
    MPI_Cartdim_get(v->comm, &dimensions);
    v->in = v->out = 2 * dimensions;
    v->from = take(sizeof(int) * (size_t)v->in), v->to = take(sizeof(int) * (size_t)v->out);
    for (int d = 0; d < dimensions; ++d) MPI_Cart_shift(v->comm, d, 1, &v->from[2 * d], &v->from[2 * d + 1]);
    memcpy(v->to, v->from, sizeof(int) * (size_t)v->in);
  } else if (kind == MPI_DIST_GRAPH) {
    int weighted = 0;
    MPI_Dist_graph_neighbors_count(v->comm, &v->in, &v->out, &weighted);
    v->from = take(sizeof(int) * (size_t)(v->in + 1)), v->to = take(sizeof(int) * (size_t)(v->out + 1));
    MPI_Dist_graph_neighbors(v->comm, v->in, v->from, MPI_UNWEIGHTED, v->out, v->to, MPI_UNWEIGHTED);
  }
}

static View view_of(int number) {
  View v = {.comm = communicators[number], .group = group_of[number]};
  MPI_Comm_rank(v.comm, &v.rank);
  MPI_Comm_size(v.comm, &v.size);
  v.is_inter = is_inter(v.comm);
  if (v.is_inter) MPI_Comm_remote_size(v.comm, &v.remote);
  look_for_neighbours(&v);
  return v;
}

/* The ranks whose number leaves no 1 when it is divided by 3, in another order than before. */
static MPI_Group some_of(MPI_Comm comm, int* takes_part) {
  int rank, size, n = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* ranks = take(sizeof(int) * (size_t)size);
  for (int r = size - 1; r >= 0; --r)
    if (r % 3 != 1) ranks[n++] = r;
  MPI_Group all, some;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, n, ranks, &some);
  MPI_Group_free(&all);
  free(ranks);
  *takes_part = rank % 3 != 1;
  return some;
}

static MPI_Comm subset(MPI_Comm comm, int tag, int is_collective) {
  int takes_part;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group some = some_of(comm, &takes_part);
  if (is_collective)
    MPI_Comm_create(comm, some, &made);
  else if (takes_part)
    MPI_Comm_create_group(comm, some, tag, &made);
  MPI_Group_free(&some);
  return made;
}

static MPI_Comm split(MPI_Comm comm, const Step* s) {
  int rank;
  MPI_Comm made;
  MPI_Comm_rank(comm, &rank);
  const uint64_t random = bits(s->seed, 5, (uint64_t)rank, 0);
  MPI_Comm_split(comm, (int)(random % 2), (int)(random >> 8 & 0xff), &made);
  return made;
}

static MPI_Comm cart(MPI_Comm comm, const Step* s) {
  int size, dims[2] = {0, 0};
  MPI_Comm made;
  MPI_Comm_size(comm, &size);
  MPI_Dims_create(size, 2, dims);
  const int periods[2] = {(int)(s->seed & 1), (int)(s->seed >> 1 & 1)};
  MPI_Cart_create(comm, 2, dims, periods, (int)(s->seed >> 2 & 1), &made);
  return made;
}

/* Whether there is an edge from one rank to another. */
static int is_edge(const Step* s, int from, int to) { return bits(s->seed, 6, (uint64_t)from, (uint64_t)to) % 3 == 0; }

static MPI_Comm graph(MPI_Comm comm, const Step* s) {
  int rank, size, in = 0, out = 0;
  MPI_Comm made;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int *from = take(sizeof(int) * ((size_t)size + 1)), *to = take(sizeof(int) * ((size_t)size + 1));
  for (int r = 0; r < size; ++r) {
    if (is_edge(s, r, rank)) from[in++] = r;
    if (is_edge(s, rank, r)) to[out++] = r;
  }
  MPI_Dist_graph_create_adjacent(comm, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  free(from), free(to);
  return made;
}

/* Between the even and the odd ranks. */
static MPI_Comm inter(MPI_Comm comm, const Step* s) {
  int rank, size;
  MPI_Comm half, made;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size < 2) return MPI_COMM_NULL;
  MPI_Comm_split(comm, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, comm, rank % 2 ? 0 : 1, s->to, &made);
  MPI_Comm_free(&half);
  group_of[s->to] = rank % 2;
  return made;
}

static void free_communicator(int number) {
  if (number > 0 && communicators[number] != MPI_COMM_NULL) MPI_Comm_free(&communicators[number]);
}

static void make_communicator(const Step* s) {
  const MPI_Comm from = communicators[s->comm];
  MPI_Comm made = MPI_COMM_NULL;
  free_communicator(s->to);
  if (from == MPI_COMM_NULL) return;
  if (is_inter(from) != (s->verb == MERGE)) return; /* the steps that made it are gone */
  switch (s->verb) {
    case DUP: MPI_Comm_dup(from, &made); break;
    case SPLIT: made = split(from, s); break;
    case CREATE: made = subset(from, 0, 1); break;
    case CREATE_GROUP: made = subset(from, s->to, 0); break;
    case CART: made = cart(from, s); break;
    case GRAPH: made = graph(from, s); break;
    case INTER: made = inter(from, s); break;
    case MERGE: MPI_Intercomm_merge(from, group_of[s->comm], &made); break;
    default: break;
  }
  communicators[s->to] = made;
}

#endif
