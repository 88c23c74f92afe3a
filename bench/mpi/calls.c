#include "calls.h"

#include "persistent.h"

// In the order of `enum collective`.
#define EACH(X, P)                                 \
  X(P, barrier, Barrier)                           \
  X(P, bcast, Bcast)                               \
  X(P, reduce, Reduce)                             \
  X(P, allreduce, Allreduce)                       \
  X(P, allgather, Allgather)                       \
  X(P, allgatherv, Allgatherv)                     \
  X(P, gather, Gather)                             \
  X(P, gatherv, Gatherv)                           \
  X(P, scatter, Scatter)                           \
  X(P, scatterv, Scatterv)                         \
  X(P, alltoall, Alltoall)                         \
  X(P, alltoallv, Alltoallv)                       \
  X(P, reduce_scatter_block, Reduce_scatter_block) \
  X(P, reduce_scatter, Reduce_scatter)             \
  X(P, scan, Scan)                                 \
  X(P, exscan, Exscan)                             \
  X(P, alltoallw, Alltoallw)                       \
  X(P, neighbor_allgather, Neighbor_allgather)     \
  X(P, neighbor_allgatherv, Neighbor_allgatherv)   \
  X(P, neighbor_alltoall, Neighbor_alltoall)       \
  X(P, neighbor_alltoallv, Neighbor_alltoallv)     \
  X(P, neighbor_alltoallw, Neighbor_alltoallw)

#if HAS_PERSISTENT_COLLECTIVES
#define MEMBERS(P, name, Name)      \
  __typeof__(&P##Name) name;        \
  __typeof__(&P##I##name) name##_i; \
  __typeof__(&P##Name##_init) name##_init;
#define VALUES(P, name, Name) .name = P##Name, .name##_i = P##I##name, .name##_init = P##Name##_init,
#define INIT(f, name) ((void*)(f)->name##_init)
#else
#define MEMBERS(P, name, Name) \
  __typeof__(&P##Name) name;   \
  __typeof__(&P##I##name) name##_i;
#define VALUES(P, name, Name) .name = P##Name, .name##_i = P##I##name,
#define INIT(f, name) NULL
#endif
#define FUNCTIONS(P) {EACH(VALUES, P).start = P##Start, .wait = P##Wait, .free = P##Request_free}

struct functions {
  EACH(MEMBERS, MPI_)
  __typeof__(&MPI_Start) start;
  __typeof__(&MPI_Wait) wait;
  __typeof__(&MPI_Request_free) free;
};

static const struct functions side_functions[SIDES] = {FUNCTIONS(PMPI_), FUNCTIONS(MPI_)};

// One list of arguments for all: the call itself, or what makes its request.
#if HAS_PERSISTENT_COLLECTIVES
#define PREPARED(name, ...) f->name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define PREPARED(name, ...) MPI_SUCCESS
#endif
#define CALL(name, ...)                                      \
  (mode == PERSISTENT    ? PREPARED(name, __VA_ARGS__)       \
   : mode == NONBLOCKING ? f->name##_i(__VA_ARGS__, request) \
                         : f->name(__VA_ARGS__))

static MPI_Comm ring;
static MPI_Datatype doubles[MAX_RANKS];

void calls_open(void) {
  int rank, size;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  // What goes to the rank above comes in from below. (A Cartesian topology of two ranks hosts see differently.)
  const int below = (rank + size - 1) % size, above = (rank + 1) % size;
  const int sources[EDGES] = {below, above}, targets[EDGES] = {above, below};
  const int weights[EDGES] = {1, 1};  // of MPI_UNWEIGHTED compilers warn
  PMPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, EDGES, sources, weights, EDGES, targets, weights,
                                  MPI_INFO_NULL, 0, &ring);
  for (int i = 0; i < MAX_RANKS; ++i) doubles[i] = MPI_DOUBLE;
}

// Among neighbours, on the ring.
static void call_neighbours(const struct point* p, const struct layout* l, enum side side, void* send,
                            void* receive, enum mode mode, MPI_Request* request) {
  const struct functions* f = &side_functions[side];
  const struct blocks *out = &l->send, *in = &l->receive;
  const MPI_Datatype type = MPI_DOUBLE;
  static MPI_Aint out_at[EDGES], in_at[EDGES];  // a request may read them later
  const int n = l->mine;
  switch (p->what) {
    case NEIGHBOR_ALLGATHER:
      CALL(neighbor_allgather, send, n, type, receive, n, type, ring);
      break;
    case NEIGHBOR_ALLGATHERV:
      CALL(neighbor_allgatherv, send, n, type, receive, in->count, in->at, type, ring);
      break;
    case NEIGHBOR_ALLTOALL:
      CALL(neighbor_alltoall, send, n, type, receive, n, type, ring);
      break;
    case NEIGHBOR_ALLTOALLV:
      CALL(neighbor_alltoallv, send, out->count, out->at, type, receive, in->count, in->at, type, ring);
      break;
    default:
      for (int e = 0; e < EDGES; ++e) out_at[e] = out->at_bytes[e], in_at[e] = in->at_bytes[e];
      CALL(neighbor_alltoallw, send, out->count, out_at, doubles, receive, in->count, in_at, doubles, ring);
      break;
  }
}

static void call(const struct point* p, const struct layout* l, enum side side, struct way way, void* send,
                 void* receive, enum mode mode, MPI_Request* request) {
  const struct functions* f = &side_functions[side];
  const struct blocks *out = &l->send, *in = &l->receive;
  const MPI_Comm comm = way.comm;
  const MPI_Datatype type = way.type;
  const int n = l->mine;
  switch (p->what) {
    case BARRIER:
      CALL(barrier, comm);
      break;
    case BCAST:
      CALL(bcast, send, n, type, p->root, comm);
      break;
    case REDUCE:
      CALL(reduce, send, receive, n, type, MPI_SUM, p->root, comm);
      break;
    case ALLREDUCE:
      CALL(allreduce, send, receive, n, type, MPI_SUM, comm);
      break;
    case ALLGATHER:
      CALL(allgather, send, n, type, receive, n, type, comm);
      break;
    case ALLGATHERV:
      CALL(allgatherv, send, n, type, receive, in->count, in->at, type, comm);
      break;
    case GATHER:
      CALL(gather, send, n, type, receive, n, type, p->root, comm);
      break;
    case GATHERV:
      CALL(gatherv, send, n, type, receive, in->count, in->at, type, p->root, comm);
      break;
    case SCATTER:
      CALL(scatter, send, n, type, receive, n, type, p->root, comm);
      break;
    case SCATTERV:
      CALL(scatterv, send, out->count, out->at, type, receive, n, type, p->root, comm);
      break;
    case ALLTOALL:
      CALL(alltoall, send, n, type, receive, n, type, comm);
      break;
    case ALLTOALLV:
      CALL(alltoallv, send, out->count, out->at, type, receive, in->count, in->at, type, comm);
      break;
    case REDUCE_SCATTER_BLOCK:
      CALL(reduce_scatter_block, send, receive, n, type, MPI_SUM, comm);
      break;
    case REDUCE_SCATTER:
      CALL(reduce_scatter, send, receive, out->count, type, MPI_SUM, comm);
      break;
    case SCAN:
      CALL(scan, send, receive, n, type, MPI_SUM, comm);
      break;
    case EXSCAN:
      CALL(exscan, send, receive, n, type, MPI_SUM, comm);
      break;
    case ALLTOALLW:
      CALL(alltoallw, send, out->count, out->at_bytes, doubles, receive, in->count, in->at_bytes, doubles,
           comm);
      break;
    default:
      call_neighbours(p, l, side, send, receive, mode, request);
      break;
  }
}

void calls_make(const struct point* p, const struct layout* l, enum side side, struct way way, void* send,
                void* receive) {
  call(p, l, side, way, send, receive, BLOCKING, NULL);
}

void calls_init(const struct point* p, const struct layout* l, enum side side, struct way way, void* send,
                void* receive, MPI_Request* request) {
  call(p, l, side, way, send, receive, PERSISTENT, request);
}

void calls_begin(const struct point* p, const struct layout* l, enum side side, struct way way, void* send,
                 void* receive, MPI_Request* request) {
  call(p, l, side, way, send, receive, NONBLOCKING, request);
}

void calls_wait(enum side side, MPI_Request* request) {
  side_functions[side].wait(request, MPI_STATUS_IGNORE);
}

void calls_start(enum side side, MPI_Request* request) { side_functions[side].start(request); }

void calls_free(enum side side, MPI_Request* request) { side_functions[side].free(request); }

#define ADDRESS(f, name, Name) \
  mode == PERSISTENT ? INIT(f, name) : mode == NONBLOCKING ? (void*)(f)->name##_i : (void*)(f)->name,

void* calls_address(enum collective which, enum side side, enum mode mode) {
  const struct functions* f = &side_functions[side];
  void* const all[COLLECTIVES] = {EACH(ADDRESS, f)};
  return all[which];
}

const char* mode_name(enum mode mode) {
  return mode == PERSISTENT ? "persistent" : mode == NONBLOCKING ? "nonblocking" : "blocking";
}
