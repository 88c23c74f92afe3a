// The C entry points of barrier, bcast, and the collectives with an operator.
#include "mpi/bindings/c/export.hpp"
#include "mpi/collectives/collectives.hpp"

namespace espalier::mpi {
ESPALIER_COLLECTIVE(MPI_Barrier, (Handle comm), barrier, {.comm = comm})

ESPALIER_COLLECTIVE(MPI_Bcast, (void* buffer, int count, Handle type, int root, Handle comm), bcast,
                    {.receive = buffer, .count = count, .type = type, .root = root, .comm = comm})

ESPALIER_COLLECTIVE(MPI_Reduce,
                    (const void* send, void* receive, int count, Handle type, Handle op, int root,
                     Handle comm),
                    reduce, {send, receive, count, type, op, root, comm})

ESPALIER_COLLECTIVE(MPI_Allreduce,
                    (const void* send, void* receive, int count, Handle type, Handle op, Handle comm),
                    allreduce, {send, receive, count, type, op, 0, comm})

ESPALIER_COLLECTIVE(MPI_Reduce_scatter_block,
                    (const void* send, void* receive, int count, Handle type, Handle op, Handle comm),
                    reduce_scatter_block, {send, receive, count, type, op, 0, comm})

ESPALIER_COLLECTIVE(MPI_Reduce_scatter,
                    (const void* send, void* receive, const int* counts, Handle type, Handle op, Handle comm),
                    reduce_scatter, with_counts(send, receive, Numbers(counts), type, op, comm))

ESPALIER_COLLECTIVE(MPI_Scan,
                    (const void* send, void* receive, int count, Handle type, Handle op, Handle comm), scan,
                    {send, receive, count, type, op, 0, comm})

ESPALIER_COLLECTIVE(MPI_Exscan,
                    (const void* send, void* receive, int count, Handle type, Handle op, Handle comm), exscan,
                    {send, receive, count, type, op, 0, comm})

// Open MPI 5 has no _c functions: mpi4py refers to them weakly and does without. If this build had them,
// mpi4py would call them and Espalier would have to do over the plain calls what mpi4py does itself.
#ifndef ESPALIER_ABI_OMPI

ESPALIER_COLLECTIVE(
    MPI_Bcast_c, (void* buffer, MPI_Count count, Handle type, int root, Handle comm), bcast,
    {.receive = buffer, .count = count, .type = type, .root = root, .comm = comm, .large = true})

ESPALIER_COLLECTIVE(MPI_Reduce_c,
                    (const void* send, void* receive, MPI_Count count, Handle type, Handle op, int root,
                     Handle comm),
                    reduce, {send, receive, count, type, op, root, comm, true})

ESPALIER_COLLECTIVE(MPI_Allreduce_c,
                    (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm),
                    allreduce, {send, receive, count, type, op, 0, comm, true})

ESPALIER_COLLECTIVE(MPI_Reduce_scatter_block_c,
                    (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm),
                    reduce_scatter_block, {send, receive, count, type, op, 0, comm, true})

ESPALIER_COLLECTIVE(MPI_Reduce_scatter_c,
                    (const void* send, void* receive, const MPI_Count* counts, Handle type, Handle op,
                     Handle comm),
                    reduce_scatter, with_counts(send, receive, Numbers::wide(counts), type, op, comm))

ESPALIER_COLLECTIVE(MPI_Scan_c,
                    (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm),
                    scan, {send, receive, count, type, op, 0, comm, true})

ESPALIER_COLLECTIVE(MPI_Exscan_c,
                    (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm),
                    exscan, {send, receive, count, type, op, 0, comm, true})

#endif

}  // namespace espalier::mpi
