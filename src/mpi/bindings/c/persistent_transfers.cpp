// The C entry points of persistent collectives that move blocks.
#include "mpi/bindings/c/export.hpp"
#include "mpi/requests/persistent_collectives.hpp"

namespace espalier::mpi {

ESPALIER_INIT(Allgather_init,
              (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
               Handle receive_type, Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, comm, info, request),
              allgather,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), 0, comm})

ESPALIER_INIT(Allgatherv_init,
              (const void* send, int send_count, Handle send_type, void* receive, const int* receive_counts,
               const int* receive_places, Handle receive_type, Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, comm, info,
               request),
              allgatherv,
              Transfer{
                  equal_blocks(send, send_count, send_type),
                  unequal_blocks(receive, Numbers(receive_counts), Numbers(receive_places), receive_type), 0,
                  comm})

ESPALIER_INIT(Gather_init,
              (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
               Handle receive_type, int root, Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, root, comm, info, request),
              gather,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), root, comm})

ESPALIER_INIT(Gatherv_init,
              (const void* send, int send_count, Handle send_type, void* receive, const int* receive_counts,
               const int* receive_places, Handle receive_type, int root, Handle comm, Handle info,
               void* request),
              (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, root, comm,
               info, request),
              gatherv,
              Transfer{
                  equal_blocks(send, send_count, send_type),
                  unequal_blocks(receive, Numbers(receive_counts), Numbers(receive_places), receive_type),
                  root, comm})

ESPALIER_INIT(Scatter_init,
              (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
               Handle receive_type, int root, Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, root, comm, info, request),
              scatter,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), root, comm})

ESPALIER_INIT(Scatterv_init,
              (const void* send, const int* send_counts, const int* send_places, Handle send_type,
               void* receive, int receive_count, Handle receive_type, int root, Handle comm, Handle info,
               void* request),
              (send, send_counts, send_places, send_type, receive, receive_count, receive_type, root, comm,
               info, request),
              scatterv,
              Transfer{unequal_blocks(send, Numbers(send_counts), Numbers(send_places), send_type),
                       equal_blocks(receive, receive_count, receive_type), root, comm})

ESPALIER_INIT(Alltoall_init,
              (const void* send, int send_count, Handle send_type, void* receive, int receive_count,
               Handle receive_type, Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, comm, info, request),
              alltoall,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), 0, comm})

ESPALIER_INIT(Alltoallv_init,
              (const void* send, const int* send_counts, const int* send_places, Handle send_type,
               void* receive, const int* receive_counts, const int* receive_places, Handle receive_type,
               Handle comm, Handle info, void* request),
              (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
               receive_type, comm, info, request),
              alltoallv,
              Transfer{
                  unequal_blocks(send, Numbers(send_counts), Numbers(send_places), send_type),
                  unequal_blocks(receive, Numbers(receive_counts), Numbers(receive_places), receive_type), 0,
                  comm})

#if ESPALIER_HAS_LARGE_COUNT

ESPALIER_INIT(Allgather_init_c,
              (const void* send, MPI_Count send_count, Handle send_type, void* receive,
               MPI_Count receive_count, Handle receive_type, Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, comm, info, request),
              allgather,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), 0, comm})

ESPALIER_INIT(
    Allgatherv_init_c,
    (const void* send, MPI_Count send_count, Handle send_type, void* receive, const MPI_Count* receive_counts,
     const MPI_Aint* receive_places, Handle receive_type, Handle comm, Handle info, void* request),
    (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, comm, info, request),
    allgatherv,
    Transfer{
        equal_blocks(send, send_count, send_type),
        unequal_blocks(receive, Numbers::wide(receive_counts), Numbers::wide(receive_places), receive_type),
        0, comm})

ESPALIER_INIT(Gather_init_c,
              (const void* send, MPI_Count send_count, Handle send_type, void* receive,
               MPI_Count receive_count, Handle receive_type, int root, Handle comm, Handle info,
               void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, root, comm, info, request),
              gather,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), root, comm})

ESPALIER_INIT(Gatherv_init_c,
              (const void* send, MPI_Count send_count, Handle send_type, void* receive,
               const MPI_Count* receive_counts, const MPI_Aint* receive_places, Handle receive_type, int root,
               Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, root, comm,
               info, request),
              gatherv,
              Transfer{equal_blocks(send, send_count, send_type),
                       unequal_blocks(receive, Numbers::wide(receive_counts), Numbers::wide(receive_places),
                                      receive_type),
                       root, comm})

ESPALIER_INIT(Scatter_init_c,
              (const void* send, MPI_Count send_count, Handle send_type, void* receive,
               MPI_Count receive_count, Handle receive_type, int root, Handle comm, Handle info,
               void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, root, comm, info, request),
              scatter,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), root, comm})

ESPALIER_INIT(Scatterv_init_c,
              (const void* send, const MPI_Count* send_counts, const MPI_Aint* send_places, Handle send_type,
               void* receive, MPI_Count receive_count, Handle receive_type, int root, Handle comm,
               Handle info, void* request),
              (send, send_counts, send_places, send_type, receive, receive_count, receive_type, root, comm,
               info, request),
              scatterv,
              Transfer{
                  unequal_blocks(send, Numbers::wide(send_counts), Numbers::wide(send_places), send_type),
                  equal_blocks(receive, receive_count, receive_type), root, comm})

ESPALIER_INIT(Alltoall_init_c,
              (const void* send, MPI_Count send_count, Handle send_type, void* receive,
               MPI_Count receive_count, Handle receive_type, Handle comm, Handle info, void* request),
              (send, send_count, send_type, receive, receive_count, receive_type, comm, info, request),
              alltoall,
              Transfer{equal_blocks(send, send_count, send_type),
                       equal_blocks(receive, receive_count, receive_type), 0, comm})

ESPALIER_INIT(Alltoallv_init_c,
              (const void* send, const MPI_Count* send_counts, const MPI_Aint* send_places, Handle send_type,
               void* receive, const MPI_Count* receive_counts, const MPI_Aint* receive_places,
               Handle receive_type, Handle comm, Handle info, void* request),
              (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
               receive_type, comm, info, request),
              alltoallv,
              Transfer{
                  unequal_blocks(send, Numbers::wide(send_counts), Numbers::wide(send_places), send_type),
                  unequal_blocks(receive, Numbers::wide(receive_counts), Numbers::wide(receive_places),
                                 receive_type),
                  0, comm})

#endif

}  // namespace espalier::mpi
