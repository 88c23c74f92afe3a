#include "mpi/collectives/forward.hpp"

#include "mpi/host/host.hpp"
#include "mpi/host/narrow_counts.hpp"

namespace espalier::mpi {
namespace {

/// Scan, exscan, allreduce, reduce_scatter_block; reduce has its root in `rest`.
template <class Large, class Plain, class... Rest>
int hand_on(const Call& call, Large large, Plain plain, const char* name, Rest... rest) {
  if (call.large && large)
    return large(call.send, call.receive, call.count, call.type, call.op, rest..., call.comm);
  if (!plain) return no_such_function(name);
  if (!fits_int(call.count)) return too_large();
  return plain(call.send, call.receive, static_cast<int>(call.count), call.type, call.op, rest..., call.comm);
}

}  // namespace

int forward_barrier(const Call& call) {
  return host.next.Barrier ? host.next.Barrier(call.comm) : no_such_function("MPI_Barrier");
}

int forward_bcast(const Call& call) {
  const Next& next = host.next;
  if (call.large && next.Bcast_c)
    return next.Bcast_c(call.receive, call.count, call.type, call.root, call.comm);
  if (!next.Bcast) return no_such_function("MPI_Bcast");
  if (!fits_int(call.count)) return too_large();
  return next.Bcast(call.receive, static_cast<int>(call.count), call.type, call.root, call.comm);
}

int forward_reduce(const Call& call) {
  return hand_on(call, host.next.Reduce_c, host.next.Reduce, "MPI_Reduce", call.root);
}

int forward_allreduce(const Call& call) {
  return hand_on(call, host.next.Allreduce_c, host.next.Allreduce, "MPI_Allreduce");
}

int forward_scan(const Call& call) { return hand_on(call, host.next.Scan_c, host.next.Scan, "MPI_Scan"); }

int forward_exscan(const Call& call) {
  return hand_on(call, host.next.Exscan_c, host.next.Exscan, "MPI_Exscan");
}

int forward_reduce_scatter_block(const Call& call) {
  return hand_on(call, host.next.Reduce_scatter_block_c, host.next.Reduce_scatter_block,
                 "MPI_Reduce_scatter_block");
}

int forward_reduce_scatter(const Call& call) {
  const Next& next = host.next;
  if (call.large && next.Reduce_scatter_c)
    return next.Reduce_scatter_c(call.send, call.receive, call.counts.data(), call.type, call.op, call.comm);
  if (!next.Reduce_scatter) return no_such_function("MPI_Reduce_scatter");
  const Narrow counts(call.counts, call.large ? local_ranks(call.comm) : 0);
  if (!counts.fits()) return too_large();
  return next.Reduce_scatter(call.send, call.receive, counts.data(), call.type, call.op, call.comm);
}

}  // namespace espalier::mpi
