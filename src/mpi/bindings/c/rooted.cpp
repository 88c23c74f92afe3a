// The C entry points of bcast, gather(v) and scatter(v).
#include "mpi/bindings/c/export.hpp"
#include "mpi/collectives/collectives.hpp"

namespace espalier::mpi {

ESPALIER_COLLECTIVE(MPI_Bcast, (void* buffer, int count, Handle type, int root, Handle comm), bcast,
                    {.receive = buffer, .count = count, .type = type, .root = root, .comm = comm})

ESPALIER_COLLECTIVE(MPI_Gather,
                    (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
                     Handle receive_type, int root, Handle comm),
                    gather,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), root, comm, false})

ESPALIER_COLLECTIVE(MPI_Gatherv,
                    (const void* send, int send_count, Handle send_type, void* receive,
                     const int* receive_counts, const int* receive_places, Handle receive_type, int root,
                     Handle comm),
                    gatherv,
                    {equal_blocks(send, send_count, send_type),
                     unequal_blocks(receive, Numbers(receive_counts), Numbers(receive_places), receive_type),
                     root, comm, false})

ESPALIER_COLLECTIVE(MPI_Scatter,
                    (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
                     Handle receive_type, int root, Handle comm),
                    scatter,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), root, comm, false})

ESPALIER_COLLECTIVE(MPI_Scatterv,
                    (const void* send, const int* send_counts, const int* send_places, Handle send_type,
                     void* receive, int receive_count, Handle receive_type, int root, Handle comm),
                    scatterv,
                    {unequal_blocks(send, Numbers(send_counts), Numbers(send_places), send_type),
                     equal_blocks(receive, receive_count, receive_type), root, comm, false})

#if ESPALIER_HAS_LARGE_COUNT

ESPALIER_COLLECTIVE(
    MPI_Bcast_c, (void* buffer, MPI_Count count, Handle type, int root, Handle comm), bcast,
    {.receive = buffer, .count = count, .type = type, .root = root, .comm = comm, .large = true})

ESPALIER_COLLECTIVE(MPI_Gather_c,
                    (const void* send, MPI_Count send_count, Handle send_type, void* receive,
                     MPI_Count receive_count, Handle receive_type, int root, Handle comm),
                    gather,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), root, comm, true})

ESPALIER_COLLECTIVE(
    MPI_Gatherv_c,
    (const void* send, MPI_Count send_count, Handle send_type, void* receive, const MPI_Count* receive_counts,
     const MPI_Aint* receive_places, Handle receive_type, int root, Handle comm),
    gatherv,
    {equal_blocks(send, send_count, send_type),
     unequal_blocks(receive, Numbers::wide(receive_counts), Numbers::wide(receive_places), receive_type),
     root, comm, true})

ESPALIER_COLLECTIVE(MPI_Scatter_c,
                    (const void* send, MPI_Count send_count, Handle send_type, void* receive,
                     MPI_Count receive_count, Handle receive_type, int root, Handle comm),
                    scatter,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), root, comm, true})

ESPALIER_COLLECTIVE(MPI_Scatterv_c,
                    (const void* send, const MPI_Count* send_counts, const MPI_Aint* send_places,
                     Handle send_type, void* receive, MPI_Count receive_count, Handle receive_type, int root,
                     Handle comm),
                    scatterv,
                    {unequal_blocks(send, Numbers::wide(send_counts), Numbers::wide(send_places), send_type),
                     equal_blocks(receive, receive_count, receive_type), root, comm, true})

#endif

}  // namespace espalier::mpi
