#include "mpi/collectives.hpp"

#include "mpi/communicators.hpp"
#include "mpi/datatype.hpp"
#include "mpi/fallback.hpp"
#include "mpi/forward.hpp"
#include "mpi/handles.hpp"
#include "mpi/host.hpp"
#include "mpi/user_reduction.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

/// Not an MPI error code: the host shall do the call.
constexpr int to_host = -1;

Entry* entry_of(const Call& call, void* caller) {
  Entry* entry = communicators::find(call.comm);
  return entry ? entry : communicators::enter(call.comm, caller);
}

/// A wanted call that Espalier leaves to the host, all ranks alike.
int refuse(const Entry& entry, Collective collective, std::size_t bytes, const std::string& why) {
  const int code = allow_fallback(entry, collective, bytes, why);
  return code == MPI_SUCCESS ? to_host : code;
}

int served(bool done, const Entry& entry, Collective collective, std::size_t bytes) {
  if (done) [[likely]]
    return MPI_SUCCESS;
  const Communicator& communicator = *entry.communicator;
  return refuse(entry, collective, bytes,
                communicator.active() ? "its rule says host" : communicator.refusal());
}

bool is_in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

/// For predefined datatypes: the host reports missing buffers. Aliased ones (send == receive) are forbidden
/// too, but hosts that do not check let them pass, and programs live by it: they count as MPI_IN_PLACE.
bool usable(const void* send, const void* receive) { return send && receive && !is_in_place(receive); }

const void* source(const Call& call) {
  return is_in_place(call.send) || call.send == call.receive ? Communicator::in_place : call.send;
}

bool valid_handles(const Call& call) {
  return call.count >= 0 && typed<MPI_Datatype>(call.type) != host.constants.datatype_null;
}

bool valid_root(const Call& call, const Communicator& communicator) {
  return static_cast<unsigned>(call.root) < static_cast<unsigned>(communicator.size());
}

int serve_barrier(const Call& call, void* caller) {
  Entry* entry = entry_of(call, caller);
  if (!entry) return to_host;
  return served(entry->communicator->barrier(), *entry, Collective::barrier, 0);
}

// Only the number of bytes is equal on all ranks: a rank whose datatype has gaps packs, whatever the others
// do.
int bcast_derived(Entry& entry, const Call& call) {
  Communicator& communicator = *entry.communicator;
  Layout layout;
  if (!valid_handles(call) || is_in_place(call.receive) ||
      !lay_out(typed<MPI_Datatype>(call.type), call.count, layout))
    return to_host;
  const std::size_t bytes = layout.bytes();
  if (bytes == 0) return MPI_SUCCESS;
  if (predefined_type(layout.type) && !call.receive) return to_host;
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

int serve_bcast(const Call& call, void* caller) {
  Entry* entry = entry_of(call, caller);
  if (!entry || !valid_root(call, *entry->communicator)) return to_host;
  const PredefinedType* type = predefined_type(typed<MPI_Datatype>(call.type));
  std::size_t bytes = 0;
  if (!type || !type->dense || call.count <= 0 || !call.receive || is_in_place(call.receive) ||
      __builtin_mul_overflow(static_cast<std::size_t>(call.count), type->size, &bytes)) [[unlikely]]
    return bcast_derived(*entry, call);
  return served(entry->communicator->bcast(call.receive, bytes, call.root), *entry, Collective::bcast, bytes);
}

std::string why_no_kernel(const PredefinedType* type, const PredefinedOp& op) {
  if (op.op == reduce::Op::none) return "MPI_REPLACE and MPI_NO_OP are no operators of a reduction";
  return type ? "no kernel for this operator on this datatype" : "predefined operator on a derived datatype";
}

/// Reductions other than a kernel on valid arguments. `is_target`: the result comes here.
int reduce_other(Entry& entry, const Call& call, Collective collective, bool is_target) {
  const auto op = typed<MPI_Op>(call.op);
  Layout layout;
  if (!valid_handles(call) || op == host.constants.op_null || (is_in_place(call.send) && !is_target) ||
      (is_target && is_in_place(call.receive)) ||
      !lay_out(typed<MPI_Datatype>(call.type), call.count, layout))
    return to_host;
  const std::size_t bytes = layout.bytes();
  const PredefinedType* type = predefined_type(layout.type);
  const PredefinedOp* predefined = predefined_op(op);
  if (predefined && predefined->op == reduce::Op::none)
    return refuse(entry, collective, bytes, why_no_kernel(type, *predefined));
  if (bytes == 0) return MPI_SUCCESS;
  // Derived datatypes may hold absolute addresses: only for predefined ones a null buffer is an error.
  if (type && (!call.send || (is_target && !usable(call.send, call.receive)))) return to_host;
  if (predefined) return refuse(entry, collective, bytes, why_no_kernel(type, *predefined));
  UserReduction reduction(op, layout, entry.comm);
  const void* send = is_target ? source(call) : call.send;
  Communicator& communicator = *entry.communicator;
  const bool done = collective == Collective::reduce
                        ? reduction.reduce(communicator, send, call.receive, call.root)
                        : reduction.allreduce(communicator, send, call.receive);
  return served(done, entry, collective, bytes);
}

/// The kernel of a call with plain arguments; nullptr sends it to reduce_other().
const reduce::Operation* kernel(const Call& call, std::size_t& bytes) {
  const PredefinedType* type = predefined_type(typed<MPI_Datatype>(call.type));
  const PredefinedOp* op = predefined_op(typed<MPI_Op>(call.op));
  if (!type || !op || call.count <= 0) return nullptr;
  const reduce::Operation* found = operation(*type, *op);
  if (!found || __builtin_mul_overflow(static_cast<std::size_t>(call.count), found->extent, &bytes))
    return nullptr;
  return found;
}

int serve_reduce(const Call& call, void* caller) {
  Entry* entry = entry_of(call, caller);
  if (!entry || !valid_root(call, *entry->communicator)) return to_host;
  const bool is_root = entry->communicator->rank() == call.root;
  std::size_t bytes = 0;
  const reduce::Operation* found = kernel(call, bytes);
  const bool plain = is_root ? usable(call.send, call.receive) : call.send && !is_in_place(call.send);
  if (!found || !plain) [[unlikely]]
    return reduce_other(*entry, call, Collective::reduce, is_root);
  const void* send = is_root ? source(call) : call.send;
  const auto count = static_cast<std::size_t>(call.count);
  return served(entry->communicator->reduce(send, call.receive, count, *found, call.root), *entry,
                Collective::reduce, bytes);
}

int serve_allreduce(const Call& call, void* caller) {
  Entry* entry = entry_of(call, caller);
  if (!entry) return to_host;
  std::size_t bytes = 0;
  const reduce::Operation* found = kernel(call, bytes);
  if (!found || !usable(call.send, call.receive)) [[unlikely]]
    return reduce_other(*entry, call, Collective::allreduce, true);
  const auto count = static_cast<std::size_t>(call.count);
  return served(entry->communicator->allreduce(source(call), call.receive, count, *found), *entry,
                Collective::allreduce, bytes);
}

/// An exception must not pass through the program's frames.
int report(const Call& call, Collective collective, const char* what) {
  Layout layout;
  if (collective != Collective::barrier) lay_out(typed<MPI_Datatype>(call.type), call.count, layout);
  return raise_error(typed<MPI_Comm>(call.comm), collective, layout.bytes(), what);
}

template <int serve(const Call&, void*), int forward(const Call&)>
int perform(const Call& call, void* caller, Collective collective) {
  int code;
  try {
    code = serve(call, caller);
  } catch (const std::exception& error) {
    return report(call, collective, error.what());
  }
  return code == to_host ? forward(call) : code;
}

}  // namespace

int barrier(const Call& call, void* caller) noexcept {
  return perform<serve_barrier, forward_barrier>(call, caller, Collective::barrier);
}

int bcast(const Call& call, void* caller) noexcept {
  return perform<serve_bcast, forward_bcast>(call, caller, Collective::bcast);
}

int reduce(const Call& call, void* caller) noexcept {
  return perform<serve_reduce, forward_reduce>(call, caller, Collective::reduce);
}

int allreduce(const Call& call, void* caller) noexcept {
  return perform<serve_allreduce, forward_allreduce>(call, caller, Collective::allreduce);
}

}  // namespace espalier::mpi
