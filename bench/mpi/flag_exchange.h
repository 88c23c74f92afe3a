// F, the time of a flag exchange: two ranks on two cores, each writes its line and reads the other's.
#ifndef ESPALIER_BENCH_FLAG_EXCHANGE_H
#define ESPALIER_BENCH_FLAG_EXCHANGE_H

#include "team.h"

// One block of exchanges between ranks 0 and 1 while the others sleep; all ranks call it. Nanoseconds for
// one exchange, or 0 where there are not two ranks on two cores.
double flag_exchange_ns(struct team* team);

// How far the clock of rank 1's core is ahead of rank 0's, in ns, from the fastest of many round trips.
double flag_clock_offset_ns(struct team* team);

#endif
