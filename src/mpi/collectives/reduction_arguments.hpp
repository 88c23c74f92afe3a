// What a reduction was called with.
#pragma once

#include <string>

#include "base/by_rank.hpp"
#include "mpi/call.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/host/handles.hpp"
#include "mpi/host/host_behaviour.hpp"

namespace espalier::mpi {

/// For predefined datatypes: the host reports missing buffers.
inline bool usable(const void* send, const void* receive) { return send && receive && !is_in_place(receive); }

/// Buffers that are the same (send == receive) are forbidden, too. The host reports them or lets them pass
/// (host_behaviour.hpp), of a reduce at the root alone.
inline bool is_alias_for_host(const Call& call, Collective collective, MPI_Count elements, bool is_target) {
  return call.send == call.receive && call.send && elements > 0 &&
         (is_target || collective != Collective::reduce) && host_rejects_aliases(collective, elements > 1);
}

/// Where they pass they count as MPI_IN_PLACE.
inline const void* source(const Call& call) {
  return is_in_place(call.send) || call.send == call.receive ? runtime::Communicator::in_place : call.send;
}

inline bool plain_buffers(const Call& call, bool is_target) {
  return is_target ? usable(call.send, call.receive) : call.send && !is_in_place(call.send);
}

inline std::string why_no_kernel(const PredefinedType* type, const PredefinedOp& op) {
  if (op.op == reduce::Op::none) return "MPI_REPLACE and MPI_NO_OP are no operators of a reduction";
  return type ? "no kernel for this operator on this datatype" : "predefined operator on a derived datatype";
}

inline const reduce::Operation* predefined_kernel(const Call& call) {
  const PredefinedType* type = predefined_type(typed<MPI_Datatype>(call.type));
  const PredefinedOp* op = predefined_op(typed<MPI_Op>(call.op));
  return type && op ? operation(*type, *op) : nullptr;
}

/// Sets the bytes of a call with plain arguments; false: it is none.
inline bool has_bytes(const reduce::Operation* kernel, MPI_Count elements, std::size_t& bytes) {
  return kernel && elements > 0 &&
         !__builtin_mul_overflow(static_cast<std::size_t>(elements), kernel->extent, &bytes);
}

/// The kernel of a call with plain arguments; nullptr: there is none, or it is not known yet.
inline const reduce::Operation* kernel(const Call& call, MPI_Count elements, std::size_t& bytes) {
  const reduce::Operation* found = predefined_kernel(call);
  return has_bytes(found, elements, bytes) ? found : nullptr;
}

/// The same where no other thread makes a call on the communicator: blocking ones one thread at a time makes.
inline const reduce::Operation* kernel(Entry& entry, const Call& call, MPI_Count elements,
                                       std::size_t& bytes) {
  LastReduction& last = entry.last_reduction;
  if (last.type != call.type || last.op != call.op) [[unlikely]] {
    const reduce::Operation* found = predefined_kernel(call);
    if (!found) return nullptr;
    last = {call.type, call.op, found};
  }
  return has_bytes(last.kernel, elements, bytes) ? last.kernel : nullptr;
}

/// The same where kernel() has none: for pairs that MPI does not define and the host serves, and on types
/// without a name. Both are the same on all ranks.
[[gnu::cold, gnu::noinline]] inline const reduce::Operation* kernel_by_host(const Call& call,
                                                                            MPI_Count elements,
                                                                            std::size_t& bytes) {
  const auto datatype = typed<MPI_Datatype>(call.type);
  const PredefinedOp* op = predefined_op(typed<MPI_Op>(call.op));
  if (!op || elements <= 0 || datatype == host.constants.datatype_null) return nullptr;
  const PredefinedType* type = predefined_type(datatype);
  const reduce::Operation* found = nullptr;
  if (!type)
    found = operation_on_unnamed(datatype, *op);
  else if (service_of(*type, *op) == Service::by_kernel)
    found = operation(*type, *op);
  if (!found || __builtin_mul_overflow(static_cast<std::size_t>(elements), found->extent, &bytes))
    return nullptr;
  return found;
}

/// The counts of all ranks, equal on all of them; false if they are not valid.
inline bool read_counts(const Numbers& counts, ByRank<std::size_t>& all, MPI_Count& sum) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const MPI_Count count = counts[static_cast<int>(rank)];
    if (count < 0 || __builtin_add_overflow(sum, count, &sum)) return false;
    all[rank] = static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace espalier::mpi
