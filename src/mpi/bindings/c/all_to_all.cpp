// The C entry points of allgather(v) and alltoall(v).
#include "mpi/bindings/c/export.hpp"
#include "mpi/collectives/collectives.hpp"

namespace espalier::mpi {

ESPALIER_COLLECTIVE(MPI_Allgather,
                    (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
                     Handle receive_type, Handle comm),
                    allgather,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), 0, comm, false})

ESPALIER_COLLECTIVE(MPI_Allgatherv,
                    (const void* send, int send_count, Handle send_type, void* receive,
                     const int* receive_counts, const int* receive_places, Handle receive_type, Handle comm),
                    allgatherv,
                    {equal_blocks(send, send_count, send_type),
                     unequal_blocks(receive, Numbers(receive_counts), Numbers(receive_places), receive_type),
                     0, comm, false})

ESPALIER_COLLECTIVE(MPI_Alltoall,
                    (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
                     Handle receive_type, Handle comm),
                    alltoall,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), 0, comm, false})

ESPALIER_COLLECTIVE(MPI_Alltoallv,
                    (const void* send, const int* send_counts, const int* send_places, Handle send_type,
                     void* receive, const int* receive_counts, const int* receive_places, Handle receive_type,
                     Handle comm),
                    alltoallv,
                    {unequal_blocks(send, Numbers(send_counts), Numbers(send_places), send_type),
                     unequal_blocks(receive, Numbers(receive_counts), Numbers(receive_places), receive_type),
                     0, comm, false})

#if ESPALIER_HAS_LARGE_COUNT

ESPALIER_COLLECTIVE(MPI_Allgather_c,
                    (const void* send, MPI_Count send_count, Handle send_type, void* receive,
                     MPI_Count receive_count, Handle receive_type, Handle comm),
                    allgather,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), 0, comm, true})

ESPALIER_COLLECTIVE(
    MPI_Allgatherv_c,
    (const void* send, MPI_Count send_count, Handle send_type, void* receive, const MPI_Count* receive_counts,
     const MPI_Aint* receive_places, Handle receive_type, Handle comm),
    allgatherv,
    {equal_blocks(send, send_count, send_type),
     unequal_blocks(receive, Numbers::wide(receive_counts), Numbers::wide(receive_places), receive_type), 0,
     comm, true})

ESPALIER_COLLECTIVE(MPI_Alltoall_c,
                    (const void* send, MPI_Count send_count, Handle send_type, void* receive,
                     MPI_Count receive_count, Handle receive_type, Handle comm),
                    alltoall,
                    {equal_blocks(send, send_count, send_type),
                     equal_blocks(receive, receive_count, receive_type), 0, comm, true})

ESPALIER_COLLECTIVE(MPI_Alltoallv_c,
                    (const void* send, const MPI_Count* send_counts, const MPI_Aint* send_places,
                     Handle send_type, void* receive, const MPI_Count* receive_counts,
                     const MPI_Aint* receive_places, Handle receive_type, Handle comm),
                    alltoallv,
                    {unequal_blocks(send, Numbers::wide(send_counts), Numbers::wide(send_places), send_type),
                     unequal_blocks(receive, Numbers::wide(receive_counts), Numbers::wide(receive_places),
                                    receive_type),
                     0, comm, true})

#endif

}  // namespace espalier::mpi
