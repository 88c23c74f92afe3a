// The C entry points of reduce, allreduce and reduce_scatter(_block).
#include "mpi/bindings/c/export.hpp"
#include "mpi/collectives/collectives.hpp"

namespace espalier::mpi {

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

#if ESPALIER_HAS_LARGE_COUNT

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

#endif

}  // namespace espalier::mpi
