// The init calls, in both forms.
#include "case.hpp"

#if MPI_VERSION >= 4
#define EITHER(name, ...) (plan_.large ? MPI_##name##_init_c(__VA_ARGS__) : MPI_##name##_init(__VA_ARGS__))
#else
#define EITHER(name, ...) MPI_##name##_init(__VA_ARGS__)
#endif

namespace persistent {
namespace {

const MPI_Datatype type = MPI_LONG;
const MPI_Info info = MPI_INFO_NULL;

}  // namespace

void Case::prepare_unequal(const void* send, void* receive) {
  const int *send_lengths = send_.lengths.data(), *send_places = send_.places.data();
  const int *lengths = receive_.lengths.data(), *places = receive_.places.data();
  const MPI_Comm comm = plan_.comm;
  if (plan_.kind == allgatherv)
    MPI_Allgatherv_init(send, *send_lengths, type, receive, lengths, places, type, comm, info, &request);
  if (plan_.kind == gatherv)
    MPI_Gatherv_init(send, *send_lengths, type, receive, lengths, places, type, plan_.root, comm, info,
                     &request);
  if (plan_.kind == scatterv)
    MPI_Scatterv_init(send, send_lengths, send_places, type, receive, *lengths, type, plan_.root, comm, info,
                      &request);
  if (plan_.kind == alltoallv)
    MPI_Alltoallv_init(send, send_lengths, send_places, type, receive, lengths, places, type, comm, info,
                       &request);
  if (plan_.kind == reduce_scatter)
    MPI_Reduce_scatter_init(send, receive, send_lengths, type, MPI_SUM, comm, info, &request);
}

void Case::prepare_large(const void* send, void* receive) {
#if MPI_VERSION >= 4
  const MPI_Count *send_lengths = send_.wide_lengths.data(), *lengths = receive_.wide_lengths.data();
  const MPI_Aint *send_places = send_.wide_places.data(), *places = receive_.wide_places.data();
  const MPI_Comm comm = plan_.comm;
  if (plan_.kind == allgatherv)
    MPI_Allgatherv_init_c(send, *send_lengths, type, receive, lengths, places, type, comm, info, &request);
  if (plan_.kind == gatherv)
    MPI_Gatherv_init_c(send, *send_lengths, type, receive, lengths, places, type, plan_.root, comm, info,
                       &request);
  if (plan_.kind == scatterv)
    MPI_Scatterv_init_c(send, send_lengths, send_places, type, receive, *lengths, type, plan_.root, comm,
                        info, &request);
  if (plan_.kind == alltoallv)
    MPI_Alltoallv_init_c(send, send_lengths, send_places, type, receive, lengths, places, type, comm, info,
                         &request);
  if (plan_.kind == reduce_scatter)
    MPI_Reduce_scatter_init_c(send, receive, send_lengths, type, MPI_SUM, comm, info, &request);
#else
  prepare_unequal(send, receive);
#endif
}

void Case::prepare() {
  const int n = plan_.length, root = plan_.root;
  const MPI_Comm comm = plan_.comm;
  const void* send = in_place() && !scatters() ? MPI_IN_PLACE : send_.base;
  void* receive = in_place() && scatters() ? MPI_IN_PLACE : receive_.base;
  switch (plan_.kind) {
    case barrier:
      MPI_Barrier_init(comm, info, &request);
      break;
    case bcast:
      EITHER(Bcast, receive, n, type, root, comm, info, &request);
      break;
    case reduce:
      EITHER(Reduce, send, receive, n, type, MPI_SUM, root, comm, info, &request);
      break;
    case allreduce:
      EITHER(Allreduce, send, receive, n, type, MPI_SUM, comm, info, &request);
      break;
    case allgather:
      EITHER(Allgather, send, n, type, receive, n, type, comm, info, &request);
      break;
    case gather:
      EITHER(Gather, send, n, type, receive, n, type, root, comm, info, &request);
      break;
    case scatter:
      EITHER(Scatter, send, n, type, receive, n, type, root, comm, info, &request);
      break;
    case alltoall:
      EITHER(Alltoall, send, n, type, receive, n, type, comm, info, &request);
      break;
    case reduce_scatter_block:
      EITHER(Reduce_scatter_block, send, receive, n, type, MPI_SUM, comm, info, &request);
      break;
    case scan:
      EITHER(Scan, send, receive, n, type, MPI_SUM, comm, info, &request);
      break;
    case exscan:
      EITHER(Exscan, send, receive, n, type, MPI_SUM, comm, info, &request);
      break;
    default:
      plan_.large ? prepare_large(send, receive) : prepare_unequal(send, receive);
  }
}

}  // namespace persistent
