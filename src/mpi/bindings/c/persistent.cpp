// The C entry points of persistent barrier, bcast and reductions.
#include "mpi/bindings/c/export.hpp"
#include "mpi/requests/persistent_collectives.hpp"

namespace espalier::mpi {
ESPALIER_INIT(Barrier_init, (Handle comm, Handle info, void* request), (comm, info, request), barrier,
              Call{.comm = comm})

ESPALIER_INIT(Bcast_init,
              (void* buffer, int count, Handle type, int root, Handle comm, Handle info, void* request),
              (buffer, count, type, root, comm, info, request), bcast,
              Call{.receive = buffer, .count = count, .type = type, .root = root, .comm = comm})

ESPALIER_INIT(Reduce_init,
              (const void* send, void* receive, int count, Handle type, Handle op, int root, Handle comm,
               Handle info, void* request),
              (send, receive, count, type, op, root, comm, info, request), reduce,
              Call{send, receive, count, type, op, root, comm})

ESPALIER_INIT(Allreduce_init,
              (const void* send, void* receive, int count, Handle type, Handle op, Handle comm, Handle info,
               void* request),
              (send, receive, count, type, op, comm, info, request), allreduce,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Reduce_scatter_block_init,
              (const void* send, void* receive, int count, Handle type, Handle op, Handle comm, Handle info,
               void* request),
              (send, receive, count, type, op, comm, info, request), reduce_scatter_block,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Scan_init,
              (const void* send, void* receive, int count, Handle type, Handle op, Handle comm, Handle info,
               void* request),
              (send, receive, count, type, op, comm, info, request), scan,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Exscan_init,
              (const void* send, void* receive, int count, Handle type, Handle op, Handle comm, Handle info,
               void* request),
              (send, receive, count, type, op, comm, info, request), exscan,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Reduce_scatter_init,
              (const void* send, void* receive, const int* counts, Handle type, Handle op, Handle comm,
               Handle info, void* request),
              (send, receive, counts, type, op, comm, info, request), reduce_scatter,
              with_counts(send, receive, Numbers(counts), type, op, comm))

#if ESPALIER_HAS_LARGE_COUNT

ESPALIER_INIT(Bcast_init_c,
              (void* buffer, MPI_Count count, Handle type, int root, Handle comm, Handle info, void* request),
              (buffer, count, type, root, comm, info, request), bcast,
              Call{.receive = buffer, .count = count, .type = type, .root = root, .comm = comm})

ESPALIER_INIT(Reduce_init_c,
              (const void* send, void* receive, MPI_Count count, Handle type, Handle op, int root,
               Handle comm, Handle info, void* request),
              (send, receive, count, type, op, root, comm, info, request), reduce,
              Call{send, receive, count, type, op, root, comm})

ESPALIER_INIT(Allreduce_init_c,
              (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm,
               Handle info, void* request),
              (send, receive, count, type, op, comm, info, request), allreduce,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Reduce_scatter_block_init_c,
              (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm,
               Handle info, void* request),
              (send, receive, count, type, op, comm, info, request), reduce_scatter_block,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Scan_init_c,
              (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm,
               Handle info, void* request),
              (send, receive, count, type, op, comm, info, request), scan,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Exscan_init_c,
              (const void* send, void* receive, MPI_Count count, Handle type, Handle op, Handle comm,
               Handle info, void* request),
              (send, receive, count, type, op, comm, info, request), exscan,
              Call{send, receive, count, type, op, 0, comm})

ESPALIER_INIT(Reduce_scatter_init_c,
              (const void* send, void* receive, const MPI_Count* counts, Handle type, Handle op, Handle comm,
               Handle info, void* request),
              (send, receive, counts, type, op, comm, info, request), reduce_scatter,
              with_counts(send, receive, Numbers::wide(counts), type, op, comm))

#endif

}  // namespace espalier::mpi
