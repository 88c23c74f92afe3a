// Barrier.
#include "generated/mpi/collectives/collectives.hpp"
#include "generated/mpi/collectives/forward.hpp"
#include "mpi/collectives/serve.hpp"

namespace espalier::mpi {
namespace {

int serve_barrier(const Call& call, void* caller, std::size_t&) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  return served(entry->communicator->barrier(), *entry, Collective::barrier, 0);
}

}  // namespace

int barrier(const Call& call, void* caller) {
  return perform<serve_barrier, forward_barrier>(call, caller, Collective::barrier);
}

}  // namespace espalier::mpi
