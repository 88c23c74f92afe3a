#include "mpi/forward.hpp"

#include <climits>
#include <cstdio>

#include "mpi/host.hpp"

namespace espalier::mpi {
namespace {

/// A host without the _c form is called in the plain one, if the count fits.
bool fits(const Call& call) { return call.count >= INT_MIN && call.count <= INT_MAX; }

int too_large() {
  std::fprintf(
      stderr,
      "espalier: a call with more than 2147483647 elements, but this host MPI has no MPI_..._c functions\n");
  return MPI_ERR_COUNT;
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
  if (!fits(call)) return too_large();
  return next.Bcast(call.receive, static_cast<int>(call.count), call.type, call.root, call.comm);
}

int forward_reduce(const Call& call) {
  const Next& next = host.next;
  if (call.large && next.Reduce_c)
    return next.Reduce_c(call.send, call.receive, call.count, call.type, call.op, call.root, call.comm);
  if (!next.Reduce) return no_such_function("MPI_Reduce");
  if (!fits(call)) return too_large();
  return next.Reduce(call.send, call.receive, static_cast<int>(call.count), call.type, call.op, call.root,
                     call.comm);
}

int forward_allreduce(const Call& call) {
  const Next& next = host.next;
  if (call.large && next.Allreduce_c)
    return next.Allreduce_c(call.send, call.receive, call.count, call.type, call.op, call.comm);
  if (!next.Allreduce) return no_such_function("MPI_Allreduce");
  if (!fits(call)) return too_large();
  return next.Allreduce(call.send, call.receive, static_cast<int>(call.count), call.type, call.op, call.comm);
}

}  // namespace espalier::mpi
