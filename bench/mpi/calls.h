// The calls themselves: by the host (PMPI names) or by whoever stands behind the MPI names.
#ifndef ESPALIER_BENCH_CALLS_H
#define ESPALIER_BENCH_CALLS_H

#include "layout.h"

enum side { HOST, ESPALIER, SIDES };

void calls_make(const struct point* p, const struct layout* l, enum side side, void* send, void* receive);

// The address that the call goes to, to see which library holds it.
void* calls_address(enum collective which, enum side side);

#endif
