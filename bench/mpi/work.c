#define _GNU_SOURCE
#include "work.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static double* room(size_t bytes) {
  void* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  memset(p, 1, bytes);  // pages must be there, and not the shared zero page, before anything is timed
  return p;
}

int work_make(struct work* work, size_t bytes) {
  work->send = room(bytes);
  work->receive = room(bytes);
  if (work->send && work->receive) return 0;
  fprintf(stderr, "compare: no memory for two buffers of %zu bytes\n", bytes);
  return -1;
}

// Small whole numbers: their sums are exact in every order, so that results compare bit by bit.
static double base(long turn) { return (double)(turn % 997 + 1); }

static void fill(double* out, size_t n, double first) {
  for (size_t i = 0; i < n; ++i) out[i] = first + (double)(i & 63);
}

static long differences(const double* got, size_t n, double first, double step) {
  long wrong = 0;
  for (size_t i = 0; i < n; ++i) wrong += got[i] != first + step * (double)(i & 63);
  return wrong;
}

void work_write(const struct work* work, const struct team* team, const struct point* p, long turn) {
  const size_t n = p->bytes / sizeof(double);
  if (p->what == BARRIER || (p->what == BCAST && team->rank != p->root)) return;
  fill(work->send, n, base(turn) * (p->what == BCAST ? 1 : team->rank + 1));
}

static void call_host(const struct work* w, const struct point* p, int n) {
  switch (p->what) {
    case BARRIER:
      PMPI_Barrier(MPI_COMM_WORLD);
      break;
    case BCAST:
      PMPI_Bcast(w->send, n, MPI_DOUBLE, p->root, MPI_COMM_WORLD);
      break;
    case REDUCE:
      PMPI_Reduce(w->send, w->receive, n, MPI_DOUBLE, MPI_SUM, p->root, MPI_COMM_WORLD);
      break;
    default:
      PMPI_Allreduce(w->send, w->receive, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      break;
  }
}

static void call_espalier(const struct work* w, const struct point* p, int n) {
  switch (p->what) {
    case BARRIER:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case BCAST:
      MPI_Bcast(w->send, n, MPI_DOUBLE, p->root, MPI_COMM_WORLD);
      break;
    case REDUCE:
      MPI_Reduce(w->send, w->receive, n, MPI_DOUBLE, MPI_SUM, p->root, MPI_COMM_WORLD);
      break;
    default:
      MPI_Allreduce(w->send, w->receive, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      break;
  }
}

void work_call(const struct work* work, const struct point* p, enum side side) {
  const int n = (int)(p->bytes / sizeof(double));
  side == HOST ? call_host(work, p, n) : call_espalier(work, p, n);
}

// The rank that arrives last comes late on purpose: a barrier that lets anybody through early is seen.
static long barrier_leaks(const struct work* work, struct team* team, const struct point* p, enum side side,
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

long work_check(const struct work* work, struct team* team, const struct point* p, enum side side,
                long turn) {
  const size_t n = p->bytes / sizeof(double);
  const double ranks = team->size, all = base(turn) * ranks * (ranks + 1) / 2;
  switch (p->what) {
    case BARRIER:
      return barrier_leaks(work, team, p, side, turn);
    case BCAST:
      return differences(work->send, n, base(turn), 1);
    case REDUCE:
      return team->rank == p->root ? differences(work->receive, n, all, ranks) : 0;
    default:
      return differences(work->receive, n, all, ranks);
  }
}
