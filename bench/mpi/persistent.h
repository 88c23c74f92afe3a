// Whether the host has persistent collectives (MPI_Barrier_init and so on).
#ifndef ESPALIER_BENCH_PERSISTENT_H
#define ESPALIER_BENCH_PERSISTENT_H

#include <mpi.h>

// Open MPI 5 has them, and calls itself version 3 of the standard.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT_COLLECTIVES 1
#else
#define HAS_PERSISTENT_COLLECTIVES 0
#endif

#endif
