// Barrier.
#include "generated/mpi/collectives/collectives.hpp"
#include "generated/mpi/collectives/forward.hpp"
#include "mpi/collectives/serve.hpp"

namespace espalier::mpi {
namespace {

int serve_barrier(Entry& entry, const Call&, std::size_t&) {
  return served(entry.communicator->barrier(), entry, Collective::barrier, 0);
}

}  // namespace

int barrier(const Call& call, void* caller) {
  return perform<Collective::barrier, serve_barrier, forward_barrier>(call, caller);
}

}  // namespace espalier::mpi
