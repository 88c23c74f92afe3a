// Memory that all ranks of the job share. The program makes it itself, so that neither the host nor
// Espalier has a part in the synchronisation between timed calls.
#ifndef ESPALIER_BENCH_AREA_H
#define ESPALIER_BENCH_AREA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE = 128, MAX_RANKS = 256, MAX_CALLS = 256, PIPE_SLOTS = 4, PIPE_CHUNK = 32768 };

// What belongs to one rank lies on lines that only it writes.
struct rank_line {
  _Alignas(LINE) atomic_llong flag;      // flag exchange, copy pipeline
  _Alignas(LINE) atomic_llong arrivals;  // barrier check
  _Alignas(LINE) int64_t ticks[MAX_CALLS];
  int32_t cpu;
};

struct area {
  _Alignas(LINE) atomic_llong arrived;
  _Alignas(LINE) atomic_llong released;  // number of the last sync that was released ...
  int64_t start;                         // ... and the tick at which its timed part begins: same line
  _Alignas(LINE) double nanoseconds_per_tick;
  _Alignas(LINE) int64_t agreed[8];  // small values that one rank tells the others
  struct rank_line rank[MAX_RANKS];
  _Alignas(4096) char pipe[PIPE_SLOTS][PIPE_CHUNK];
};

// Collective over all ranks (uses PMPI). Returns NULL after a message on standard error.
struct area* area_make(int rank, int size);

#endif
