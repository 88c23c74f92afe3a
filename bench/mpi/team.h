// One rank's view of the job, and the synchronisation between timed calls.
#ifndef ESPALIER_BENCH_TEAM_H
#define ESPALIER_BENCH_TEAM_H

#include <stdint.h>
#include <stdio.h>

#include "area.h"
#include "options.h"

struct team {
  int rank, size;
  int cpu[MAX_CPUS];   // processors that the job may use
  int cores;           // their number
  int oversubscribed;  // more ranks than cores: every wait yields
  int pinned;          // this rank is fixed to one processor
  int apart;           // the ranks lie on several emulated nodes
  int weak_yields;  // oversubscribed, and the ranks lie in several autogroups: who yields goes on (session.h)
  long long sync;   // number of syncs so far
  struct area* area;
};

// Pins the rank if asked to, else keeps it on the processors that were named; called before MPI_Init (rank
// from the launcher's environment) and after it.
void team_pin(struct team* team, const struct options* o);

// Fixes the calling process to one processor; 0 if that worked.
int team_pin_to(int cpu);

// Waits for all ranks. Returns the tick at which the timed part begins: with enough cores a moment in the
// near future for which all ranks then wait, so that they start together; with more ranks than cores the
// moment at which the last rank arrived.
int64_t team_start(struct team* team);

// Waits for all ranks before a start that follows on work of their own. Where yields are weak a rank that was
// early sleeps: by yielding it would take as much time as the ranks that are still in the call before.
void team_gather(struct team* team);

// Waits for all ranks, asleep: leaves the processors to the ranks that work in between.
void team_wait_asleep(struct team* team);

// Rank 0's value on every rank.
int64_t team_agree(struct team* team, int64_t value);

// Rank 0's file for the results; NULL on other ranks. No path: stdout. Not 0, on all ranks: rank 0 cannot write it, and has
// said so. The ranks are to end in order then: a launcher may lose what a rank says that aborts the job.
int team_open(struct team* team, const char* program, const char* path, FILE** file);

double team_ns(const struct team* team, int64_t ticks);

// Pauses, and yields when the ranks share cores or when the wait drags on.
void team_wait_step(const struct team* team, int* steps);

#endif
