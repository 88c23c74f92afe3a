// Memory that all ranks of the job share. The program makes it itself, so that neither the host nor
// Espalier has a part in the synchronisation between timed calls.
#ifndef ESPALIER_BENCH_AREA_H
#define ESPALIER_BENCH_AREA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE = 128, MAX_RANKS = 256, MAX_CALLS = 256, MAX_CORES = 256, PIPE_BYTES = 512 * 1024 };

// What belongs to one rank lies on lines that only it writes.
struct rank_line {
  _Alignas(LINE) atomic_llong flag;      // flag exchange, copy pipeline
  _Alignas(LINE) atomic_llong arrivals;  // barrier check
  _Alignas(LINE) int64_t ticks[MAX_CALLS];
  int32_t cpu;
};

// Of the ranks that take turns on one core.
struct core_line {
  _Alignas(LINE) atomic_llong rounds;  // completed: every rank of the core had it once
  atomic_int arrived;                  // ranks that have had it in the round under way
  int timed, over;                     // rounds between begin and end; 1: enough of them
  int64_t begin, end;                  // ticks
};

struct area {
  _Alignas(LINE) atomic_llong arrived;
  _Alignas(LINE) atomic_llong released;  // number of the last sync that was released ...
  int64_t start;                         // ... and the tick at which its timed part begins: same line
  _Alignas(LINE) double nanoseconds_per_tick;
  _Alignas(LINE) int64_t agreed[8];        // small values that one rank tells the others
  _Alignas(LINE) int64_t late[MAX_CALLS];  // when the late rank came, in ticks after the common start
  struct core_line core[MAX_CORES];
  struct rank_line rank[MAX_RANKS];
  _Alignas(4096) char pipe[PIPE_BYTES];
};

// Collective over all ranks (uses PMPI). `file`: where it is, for ranks that do not see each other's
// processes but this file; it is removed as soon as all have it. NULL: it has no name. Returns NULL after a
// message on standard error.
struct area* area_make(int rank, int size, const char* file);

#endif
