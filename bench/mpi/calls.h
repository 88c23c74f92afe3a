// The calls themselves: by the host (PMPI names) or by the library behind the MPI names.
#ifndef ESPALIER_BENCH_CALLS_H
#define ESPALIER_BENCH_CALLS_H

#include <mpi.h>

#include "layout.h"

enum side { HOST, ESPALIER, SIDES };

// How the calls of a point are made: on which communicator of all ranks in their order, and with which datatype of
// one double's extent.
struct way {
  MPI_Comm comm;
  MPI_Datatype type;
};

// How collectives are called: PERSISTENT: MPI_Start and MPI_Wait of a request that was made before.
// NONBLOCKING: MPI_I... and MPI_Wait.
enum mode { BLOCKING, PERSISTENT, NONBLOCKING };
const char* mode_name(enum mode mode);

// Makes the ring that neighbours are measured on. Collective over all ranks (uses PMPI).
void calls_open(void);

void calls_make(const struct point* p, const struct layout* l, enum side side, struct way way, void* send,
                void* receive);

// The same call as a persistent request, on all ranks. Counts, places and buffers must stay where and as they
// are until the request is freed: MPI may read them at every start.
void calls_init(const struct point* p, const struct layout* l, enum side side, struct way way, void* send,
                void* receive, MPI_Request* request);

void calls_start(enum side side, MPI_Request* request);

// The same call, which only begins.
void calls_begin(const struct point* p, const struct layout* l, enum side side, struct way way, void* send,
                 void* receive, MPI_Request* request);

void calls_wait(enum side side, MPI_Request* request);

void calls_free(enum side side, MPI_Request* request);

// The address that the call goes to, or that makes its request, to see which library holds it.
void* calls_address(enum collective which, enum side side, enum mode mode);

#endif
