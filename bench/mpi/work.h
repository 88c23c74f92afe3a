// The buffers of a rank, what is written into them and what must come out.
#ifndef ESPALIER_BENCH_WORK_H
#define ESPALIER_BENCH_WORK_H

#include <stdint.h>

#include "calls.h"
#include "team.h"

struct work {
  double* send;
  double* receive;
  enum mode mode;
  int64_t compute_ticks;  // that a rank computes between the start of a call and its wait
  struct layout layout;   // of the point under way
  struct way way;         // in which its calls are made
  MPI_Request request;    // of the point and the side under way, where calls have one
};

// Room for points of up to these many bytes, `allocated` by MPI_Alloc_mem or plain. Returns -1 after a
// message on standard error.
int work_make(struct work* work, size_t send_bytes, size_t receive_bytes, int allocated);

// Must precede the others whenever the point changes.
void work_begin(struct work* work, const struct team* team, const struct point* p);

// Makes what persistent calls of the point need, on all ranks, and gives it back; nothing for others.
void work_open(struct work* work, const struct point* p, enum side side);
void work_close(struct work* work, enum side side);

// What a program does before the call: new values, none of them zero, for call number `turn`. Only ranks
// whose send buffer counts write (in a bcast or scatter the root).
void work_write(const struct work* work, const struct team* team, const struct point* p, long turn);

void work_call(struct work* work, const struct point* p, enum side side);

// Compares the result of call number `turn` with what the written values must give. For the barrier: makes
// one more call and looks whether every rank had arrived. Returns the number of wrong elements.
long work_check(struct work* work, struct team* team, const struct point* p, enum side side, long turn);

#endif
