#define _GNU_SOURCE
#include "work.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"

static void* plain(size_t bytes) {
  void* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void* from_mpi(size_t bytes) {
  void* p;
  return MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &p) == MPI_SUCCESS ? p : NULL;
}

static double* room(size_t bytes, int allocated) {
  void* p = allocated ? from_mpi(bytes) : plain(bytes);
  if (!p) return NULL;
  memset(p, 1, bytes);  // pages must be there, and not the shared zero page, before anything is timed
  return p;
}

int work_make(struct work* work, size_t send_bytes, size_t receive_bytes, int allocated) {
  work->send = room(send_bytes, allocated);
  work->receive = room(receive_bytes, allocated);
  if (work->send && work->receive) return 0;
  fprintf(stderr, "compare: no memory for buffers of %zu and %zu bytes\n", send_bytes, receive_bytes);
  return -1;
}

void work_begin(struct work* work, const struct team* team, const struct point* p) {
  layout_make(&work->layout, p, team->rank, team->size);
}

// Small whole numbers: their sums are exact in every order, so that results compare bit by bit.
static double base(long turn) { return (double)(turn % 997 + 1); }

// Added to what is meant for one receiver, so that a block that went to the wrong one is seen.
static double for_receiver(int rank) { return 1e6 * rank; }

static void fill(double* out, size_t n, double first) {
  for (size_t i = 0; i < n; ++i) out[i] = first + (double)(i & 63);
}

// `at`: the place of got[0] in the whole vector that was filled.
static long differences(const double* got, size_t n, double first, double step, size_t at) {
  long wrong = 0;
  for (size_t i = 0; i < n; ++i) wrong += got[i] != first + step * (double)((at + i) & 63);
  return wrong;
}

// One for each rank, or for each edge.
static void fill_blocks(const struct work* work, int blocks, double first) {
  const struct blocks* to = &work->layout.send;
  for (int r = 0; r < blocks; ++r) fill(work->send + to->at[r], to->count[r], first + for_receiver(r));
}

void work_write(const struct work* work, const struct team* team, const struct point* p, long turn) {
  const double mine = base(turn) * (team->rank + 1);
  switch (p->what) {
    case BARRIER:
      break;
    case BCAST:
      if (team->rank == p->root) fill(work->send, work->layout.send.total, base(turn));
      break;
    case SCATTER:
    case SCATTERV:
      if (team->rank == p->root) fill_blocks(work, team->size, base(turn));
      break;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
      fill_blocks(work, team->size, mine);
      break;
    case NEIGHBOR_ALLTOALL:
    case NEIGHBOR_ALLTOALLV:
    case NEIGHBOR_ALLTOALLW:
      fill_blocks(work, EDGES, mine);
      break;
    default:
      fill(work->send, work->layout.send.total, mine);
      break;
  }
}

void work_open(struct work* work, const struct point* p, enum side side) {
  if (work->mode == PERSISTENT)
    calls_init(p, &work->layout, side, work->way, work->send, work->receive, &work->request);
}

void work_close(struct work* work, enum side side) {
  if (work->mode == PERSISTENT) calls_free(side, &work->request);
}

// A rank that is taken off its core meanwhile does not compute: such gaps do not count.
static void compute(int64_t ticks) {
  const int64_t longest_step = ticks / 4;
  int64_t done = 0;
  for (int64_t last = clock_ticks(); done < ticks;) {
    const int64_t now = clock_ticks();
    if (now - last <= longest_step) done += now - last;
    last = now;
  }
}

void work_call(struct work* work, const struct point* p, enum side side) {
  if (work->mode == BLOCKING) {
    calls_make(p, &work->layout, side, work->way, work->send, work->receive);
    return;
  }
  if (work->mode == PERSISTENT)
    calls_start(side, &work->request);
  else
    calls_begin(p, &work->layout, side, work->way, work->send, work->receive, &work->request);
  if (work->compute_ticks > 0) compute(work->compute_ticks);
  calls_wait(side, &work->request);
}

// The rank that arrives last comes late on purpose: a barrier that lets a rank through early is seen.
static long barrier_leaks(struct work* work, struct team* team, const struct point* p, enum side side,
                          long turn) {
  long early = 0;
  int steps = 0;
  const long long mine =
      atomic_load_explicit(&team->area->rank[team->rank].arrivals, memory_order_relaxed) + 1;
  team_start(team);
  if (team->rank == turn % team->size)
    while (steps < 300) team_wait_step(team, &steps);
  atomic_store_explicit(&team->area->rank[team->rank].arrivals, mine, memory_order_relaxed);
  work_call(work, p, side);
  for (int r = 0; r < team->size; ++r)
    early += atomic_load_explicit(&team->area->rank[r].arrivals, memory_order_relaxed) < mine;
  team_start(team);
  return early;
}

// Blocks from every rank, one after the other.
static long wrong_blocks(const struct work* work, const struct team* team, long turn, double added) {
  const struct blocks* from = &work->layout.receive;
  long wrong = 0;
  for (int r = 0; r < team->size; ++r)
    wrong += differences(work->receive + from->at[r], from->count[r], base(turn) * (r + 1) + added, 1, 0);
  return wrong;
}

// Blocks from the rank below and the rank above on the ring, each the block of the same number there.
static long wrong_neighbours(const struct work* work, const struct team* team, long turn, int exchanged) {
  const struct blocks* from = &work->layout.receive;
  long wrong = 0;
  for (int e = 0; e < EDGES; ++e) {
    const int peer = (team->rank + (e ? 1 : team->size - 1)) % team->size;
    const double added = exchanged ? for_receiver(e) : 0;
    wrong += differences(work->receive + from->at[e], from->count[e], base(turn) * (peer + 1) + added, 1, 0);
  }
  return wrong;
}

// The sum over the first `ranks` ranks.
static long wrong_sum(const struct work* work, long turn, int ranks, size_t at) {
  const double all = base(turn) * ranks * (ranks + 1) / 2;
  return differences(work->receive, work->layout.receive.total, all, ranks, at);
}

long work_check(struct work* work, struct team* team, const struct point* p, enum side side, long turn) {
  const struct layout* l = &work->layout;
  const int rank = team->rank, at_root = rank == p->root;
  switch (p->what) {
    case BARRIER:
      return barrier_leaks(work, team, p, side, turn);
    case BCAST:
      return differences(work->send, l->mine, base(turn), 1, 0);
    case REDUCE:
      return at_root ? wrong_sum(work, turn, team->size, 0) : 0;
    case ALLREDUCE:
      return wrong_sum(work, turn, team->size, 0);
    case GATHER:
    case GATHERV:
      return at_root ? wrong_blocks(work, team, turn, 0) : 0;
    case ALLGATHER:
    case ALLGATHERV:
      return wrong_blocks(work, team, turn, 0);
    case SCATTER:
    case SCATTERV:
      return differences(work->receive, l->mine, base(turn) + for_receiver(rank), 1, 0);
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
      return wrong_blocks(work, team, turn, for_receiver(rank));
    case NEIGHBOR_ALLGATHER:
    case NEIGHBOR_ALLGATHERV:
      return wrong_neighbours(work, team, turn, 0);
    case NEIGHBOR_ALLTOALL:
    case NEIGHBOR_ALLTOALLV:
    case NEIGHBOR_ALLTOALLW:
      return wrong_neighbours(work, team, turn, 1);
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER:
      return wrong_sum(work, turn, team->size, l->send.at[rank]);
    case SCAN:
      return wrong_sum(work, turn, rank + 1, 0);
    case EXSCAN:
      return rank ? wrong_sum(work, turn, rank, 0) : 0;
    case COLLECTIVES:
      break;
  }
  return 0;
}
