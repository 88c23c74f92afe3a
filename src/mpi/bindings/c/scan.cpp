// The C entry points of scan and exscan.
#include "mpi/bindings/c/export.hpp"
#include "mpi/collectives/collectives.hpp"

namespace espalier::mpi {

ESPALIER_COLLECTIVE(MPI_Scan,
                    (const void* send, void* receive, int count, Handle type, Handle op, Handle comm), scan,
                    {send, receive, count, type, op, 0, comm})

ESPALIER_COLLECTIVE(MPI_Exscan,
                    (const void* send, void* receive, int count, Handle type, Handle op, Handle comm), exscan,
                    {send, receive, count, type, op, 0, comm})

#if ESPALIER_HAS_LARGE_COUNT

ESPALIER_COLLECTIVE(MPI_Scan_c,
                    (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm),
                    scan, {send, receive, count, type, op, 0, comm, true})

ESPALIER_COLLECTIVE(MPI_Exscan_c,
                    (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm),
                    exscan, {send, receive, count, type, op, 0, comm, true})

#endif

}  // namespace espalier::mpi
