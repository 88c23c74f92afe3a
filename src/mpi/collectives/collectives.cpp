// Barrier and bcast.
#include "mpi/collectives/collectives.hpp"

#include "mpi/collectives/forward.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/host/handles.hpp"
#include "mpi/host/host_behaviour.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

int serve_barrier(const Call& call, void* caller, std::size_t&) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  return served(entry->communicator->barrier(), *entry, Collective::barrier, 0);
}

// Only the number of bytes is equal on all ranks: a rank whose datatype has gaps packs, whatever the others
// do.
int bcast_derived(Entry& entry, const Call& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  Layout layout;
  if (call.count < 0 || typed<MPI_Datatype>(call.type) == host.constants.datatype_null ||
      !lay_out(typed<MPI_Datatype>(call.type), call.count, layout) || !may_begin_at(call.receive, layout))
    return to_host;
  bytes = layout.bytes();
  if (bytes == 0) return MPI_SUCCESS;
  if (!predefined_type(layout.type) && !is_committed_for_bcast(layout.type)) return to_host;
  if (layout.packed) {
    auto* data = static_cast<std::byte*>(call.receive) + layout.true_lower;
    return served(communicator.bcast(data, bytes, call.root), entry, Collective::bcast, bytes);
  }
  const Buffer packed = allocate(bytes);
  const bool is_root = communicator.rank() == call.root;
  if (is_root) pack(layout, call.receive, packed.get(), entry.comm);
  const bool done = communicator.bcast(packed.get(), bytes, call.root);
  if (done && !is_root) unpack(layout, packed.get(), call.receive, entry.comm);
  return served(done, entry, Collective::bcast, bytes);
}

int serve_bcast(const Call& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry || !is_rank(call.root, *entry->communicator)) return to_host;
  const PredefinedType* type = predefined_type(typed<MPI_Datatype>(call.type));
  if (!type || !type->dense || call.count <= 0 || !call.receive || is_in_place(call.receive) ||
      __builtin_mul_overflow(static_cast<std::size_t>(call.count), type->size, &bytes)) [[unlikely]]
    return bcast_derived(*entry, call, bytes);
  return served(entry->communicator->bcast(call.receive, bytes, call.root), *entry, Collective::bcast, bytes);
}

}  // namespace

int barrier(const Call& call, void* caller) {
  return perform<serve_barrier, forward_barrier>(call, caller, Collective::barrier);
}

int bcast(const Call& call, void* caller) {
  return perform<serve_bcast, forward_bcast>(call, caller, Collective::bcast);
}

}  // namespace espalier::mpi
