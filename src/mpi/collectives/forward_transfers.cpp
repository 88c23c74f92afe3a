#include "mpi/collectives/forward.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/narrow_counts.hpp"

namespace espalier::mpi {
namespace {

/// Blocks of one length on both sides; gather and scatter have their root in `rest`.
template <class Large, class Plain, class... Rest>
int hand_on(const Transfer& call, Large large, Plain plain, const char* name, Rest... rest) {
  const Part& send = call.send;
  const Part& receive = call.receive;
  if (call.large && large)
    return large(send.buffer, send.count, send.type, receive.buffer, receive.count, receive.type, rest...,
                 call.comm);
  if (!plain) return no_such_function(name);
  if (!fits_int(send.count) || !fits_int(receive.count)) return too_large();
  return plain(send.buffer, static_cast<int>(send.count), send.type, receive.buffer,
               static_cast<int>(receive.count), receive.type, rest..., call.comm);
}

/// One block is sent, blocks of any length are received.
template <class Large, class Plain, class... Rest>
int hand_on_to_blocks(const Transfer& call, int blocks, Large large, Plain plain, const char* name,
                      Rest... rest) {
  const Part& send = call.send;
  const Part& receive = call.receive;
  if (call.large && large)
    return large(send.buffer, send.count, send.type, receive.buffer, receive.counts.data(),
                 receive.displacements.data(), receive.type, rest..., call.comm);
  if (!plain) return no_such_function(name);
  const Narrow counts(receive.counts, blocks), places(receive.displacements, blocks);
  if (!fits_int(send.count) || !counts.fits() || !places.fits()) return too_large();
  return plain(send.buffer, static_cast<int>(send.count), send.type, receive.buffer, counts.data(),
               places.data(), receive.type, rest..., call.comm);
}

/// How many entries need narrowing; asked only then.
template <class Large>
bool narrows(const Transfer& call, Large large) {
  return call.large && !large;
}

}  // namespace

int forward_allgather(const Transfer& call) {
  return hand_on(call, host.next.Allgather_c, host.next.Allgather, "MPI_Allgather");
}

int forward_gather(const Transfer& call) {
  return hand_on(call, host.next.Gather_c, host.next.Gather, "MPI_Gather", call.root);
}

int forward_scatter(const Transfer& call) {
  return hand_on(call, host.next.Scatter_c, host.next.Scatter, "MPI_Scatter", call.root);
}

int forward_alltoall(const Transfer& call) {
  return hand_on(call, host.next.Alltoall_c, host.next.Alltoall, "MPI_Alltoall");
}

int forward_allgatherv(const Transfer& call) {
  const Next& next = host.next;
  const int blocks = narrows(call, next.Allgatherv_c) ? peers(call.comm) : 0;
  return hand_on_to_blocks(call, blocks, next.Allgatherv_c, next.Allgatherv, "MPI_Allgatherv");
}

int forward_gatherv(const Transfer& call) {
  const Next& next = host.next;
  const int blocks = narrows(call, next.Gatherv_c) ? peers_of_root(call.comm, call.root) : 0;
  return hand_on_to_blocks(call, blocks, next.Gatherv_c, next.Gatherv, "MPI_Gatherv", call.root);
}

int forward_scatterv(const Transfer& call) {
  const Next& next = host.next;
  const Part& send = call.send;
  const Part& receive = call.receive;
  if (call.large && next.Scatterv_c)
    return next.Scatterv_c(send.buffer, send.counts.data(), send.displacements.data(), send.type,
                           receive.buffer, receive.count, receive.type, call.root, call.comm);
  if (!next.Scatterv) return no_such_function("MPI_Scatterv");
  const int blocks = narrows(call, next.Scatterv_c) ? peers_of_root(call.comm, call.root) : 0;
  const Narrow counts(send.counts, blocks), places(send.displacements, blocks);
  if (!counts.fits() || !places.fits() || !fits_int(receive.count)) return too_large();
  return next.Scatterv(send.buffer, counts.data(), places.data(), send.type, receive.buffer,
                       static_cast<int>(receive.count), receive.type, call.root, call.comm);
}

int forward_alltoallv(const Transfer& call) {
  const Next& next = host.next;
  const Part& send = call.send;
  const Part& receive = call.receive;
  if (call.large && next.Alltoallv_c)
    return next.Alltoallv_c(send.buffer, send.counts.data(), send.displacements.data(), send.type,
                            receive.buffer, receive.counts.data(), receive.displacements.data(), receive.type,
                            call.comm);
  if (!next.Alltoallv) return no_such_function("MPI_Alltoallv");
  const int blocks = narrows(call, next.Alltoallv_c) ? peers(call.comm) : 0;
  const int sent = send.buffer == MPI_IN_PLACE ? 0 : blocks;
  const Narrow out(send.counts, sent), from(send.displacements, sent);
  const Narrow in(receive.counts, blocks), to(receive.displacements, blocks);
  if (!out.fits() || !from.fits() || !in.fits() || !to.fits()) return too_large();
  return next.Alltoallv(send.buffer, out.data(), from.data(), send.type, receive.buffer, in.data(), to.data(),
                        receive.type, call.comm);
}

}  // namespace espalier::mpi
