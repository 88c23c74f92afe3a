// Bcast, gather(v) and scatter(v). In a gatherv or scatterv only the root knows what the other ranks move, so
// a rank with no data still takes part.
#include "generated/mpi/collectives/collectives.hpp"
#include "generated/mpi/collectives/forward.hpp"
#include "mpi/collectives/own_block.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/staging.hpp"
#include "mpi/host/handles.hpp"
#include "mpi/host/host_behaviour.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

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

int serve_bcast(Entry& entry, const Call& call, std::size_t& bytes) {
  if (!is_rank(call.root, *entry.communicator)) return to_host;
  const PredefinedType* type = predefined_type(typed<MPI_Datatype>(call.type));
  if (!type || !type->dense || call.count <= 0 || !call.receive || is_in_place(call.receive) ||
      __builtin_mul_overflow(static_cast<std::size_t>(call.count), type->size, &bytes)) [[unlikely]]
    return bcast_derived(entry, call, bytes);
  return served(entry.communicator->bcast(call.receive, bytes, call.root), entry, Collective::bcast, bytes);
}

int gather_to_others(Entry& entry, const Transfer& call, std::size_t& bytes) {
  EqualBlocks send;
  if (!send.look_at(call.send, 1)) return to_host;
  bytes = send.bytes();
  if (bytes == 0) return MPI_SUCCESS;
  send.open(entry.comm);
  send.load();
  return served(entry.communicator->gather(send.data(), nullptr, bytes, call.root), entry, Collective::gather,
                bytes);
}

int gather_here(Entry& entry, const Transfer& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send, receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  bytes = receive.block_bytes();
  if (!in_place && !send.look_at(call.send, 1)) return to_host;
  if (!in_place && send.bytes() != bytes) [[unlikely]]
    return refuse_own_block(entry, {Collective::gather, call.root, bytes}, send.bytes(), bytes);
  if (bytes == 0) return MPI_SUCCESS;
  receive.open(entry.comm);
  if (in_place) {
    receive.load(call.root);
  } else {
    send.open(entry.comm);
    send.load();
  }
  const std::byte* own = receive.block(call.root);
  if (!in_place && is_alias_for_host(call, send.data(), own, Collective::gather)) [[unlikely]]
    return to_host;
  const void* from = in_place ? Communicator::in_place : unless_in(own, send.data());
  const bool done = communicator.gather(from, receive.data(), bytes, call.root);
  if (done) receive.store();
  return served(done, entry, Collective::gather, bytes);
}

int serve_gather(Entry& entry, const Transfer& call, std::size_t& bytes) {
  if (!is_rank(call.root, *entry.communicator)) return to_host;
  return entry.communicator->rank() == call.root ? gather_here(entry, call, bytes)
                                                 : gather_to_others(entry, call, bytes);
}

int gatherv_to_others(Entry& entry, const Transfer& call) {
  EqualBlocks send;
  if (!send.look_at(call.send, 1)) return to_host;
  open_unless_empty(send, entry.comm);
  send.load();
  return served(entry.communicator->gatherv(send.data(), send.bytes(), nullptr, {}, call.root), entry,
                Collective::gatherv, 0);
}

int gatherv_here(Entry& entry, const Transfer& call) {
  Communicator& communicator = *entry.communicator;
  const int rank = call.root;
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send;
  UnequalBlocks receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  if (!in_place && !send.look_at(call.send, 1)) return to_host;
  const std::size_t expected = receive.block_bytes(rank);
  if (!in_place && send.bytes() > expected) [[unlikely]]
    return refuse_own_block(entry, {Collective::gatherv, rank, 0}, send.bytes(), expected);
  receive.open(entry.comm);
  if (in_place) {
    receive.load(rank);
  } else {
    open_unless_empty(send, entry.comm);
    send.load();
  }
  if (!in_place && is_alias_for_host(call, send, receive, rank, Collective::gatherv)) [[unlikely]]
    return to_host;
  const bool is_short = !in_place && send.bytes() < expected;
  if (is_short) [[unlikely]]
    put_own_block(send, receive, rank);
  const bool stays = in_place || is_short || same_place(send, receive, rank);
  const bool done = communicator.gatherv(stays ? Communicator::in_place : send.data(),
                                         receive.block_bytes(rank), receive.data(), receive.blocks(), rank);
  if (done) receive.store();
  return served(done, entry, Collective::gatherv, 0);
}

int serve_gatherv(Entry& entry, const Transfer& call, std::size_t&) {
  if (!is_rank(call.root, *entry.communicator)) return to_host;
  return entry.communicator->rank() == call.root ? gatherv_here(entry, call) : gatherv_to_others(entry, call);
}

int scatter_from_others(Entry& entry, const Transfer& call, std::size_t& bytes) {
  EqualBlocks receive;
  if (!receive.look_at(call.receive, 1)) return to_host;
  bytes = receive.bytes();
  if (bytes == 0) return MPI_SUCCESS;
  receive.open(entry.comm);
  const bool done = entry.communicator->scatter(nullptr, receive.data(), bytes, call.root);
  if (done) receive.store();
  return served(done, entry, Collective::scatter, bytes);
}

int scatter_from_here(Entry& entry, const Transfer& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  const bool in_place = is_in_place(call.receive.buffer);
  EqualBlocks send, receive;
  if (!send.look_at(call.send, communicator.size())) return to_host;
  bytes = send.block_bytes();
  if (!in_place && !receive.look_at(call.receive, 1)) return to_host;
  if (!in_place && receive.bytes() != bytes) [[unlikely]]
    return refuse_own_block(entry, {Collective::scatter, call.root, bytes}, bytes, receive.bytes());
  if (bytes == 0) return MPI_SUCCESS;
  send.open(entry.comm);
  send.load();
  if (!in_place) receive.open(entry.comm);
  if (!in_place && is_alias_for_host(call, send.block(call.root), receive.data(), Collective::scatter))
      [[unlikely]]
    return to_host;
  const bool stays = in_place || receive.data() == send.block(call.root);
  const bool done =
      communicator.scatter(send.data(), stays ? in_place_target() : receive.data(), bytes, call.root);
  if (done && !in_place) receive.store();
  return served(done, entry, Collective::scatter, bytes);
}

int serve_scatter(Entry& entry, const Transfer& call, std::size_t& bytes) {
  if (!is_rank(call.root, *entry.communicator)) return to_host;
  return entry.communicator->rank() == call.root ? scatter_from_here(entry, call, bytes)
                                                 : scatter_from_others(entry, call, bytes);
}

int scatterv_from_others(Entry& entry, const Transfer& call) {
  EqualBlocks receive;
  if (!receive.look_at(call.receive, 1)) return to_host;
  open_unless_empty(receive, entry.comm);
  const bool done = entry.communicator->scatterv(nullptr, {}, receive.data(), receive.bytes(), call.root);
  if (done) receive.store();
  return served(done, entry, Collective::scatterv, 0);
}

int scatterv_from_here(Entry& entry, const Transfer& call) {
  Communicator& communicator = *entry.communicator;
  const int rank = call.root;
  const bool in_place = is_in_place(call.receive.buffer);
  EqualBlocks receive;
  UnequalBlocks send;
  if (!send.look_at(call.send, communicator.size())) return to_host;
  if (!in_place && !receive.look_at(call.receive, 1)) return to_host;
  const std::size_t sent = send.block_bytes(rank);
  if (!in_place && sent > receive.bytes()) [[unlikely]]
    return refuse_own_block(entry, {Collective::scatterv, rank, 0}, sent, receive.bytes());
  send.open(entry.comm);
  send.load();
  if (!in_place) open_unless_empty(receive, entry.comm);
  if (!in_place && sent < receive.bytes()) [[unlikely]]
    receive.load();  // the rest of it stays
  if (!in_place && is_alias_for_host(call, receive, send, rank, Collective::scatterv)) [[unlikely]]
    return to_host;
  const bool stays = in_place || same_place(receive, send, rank);
  void* to = stays ? const_cast<void*>(Communicator::in_place) : receive.data();
  const bool done = communicator.scatterv(send.data(), send.blocks(), to, send.block_bytes(rank), rank);
  if (done && !in_place) receive.store();
  return served(done, entry, Collective::scatterv, 0);
}

int serve_scatterv(Entry& entry, const Transfer& call, std::size_t&) {
  if (!is_rank(call.root, *entry.communicator)) return to_host;
  return entry.communicator->rank() == call.root ? scatterv_from_here(entry, call)
                                                 : scatterv_from_others(entry, call);
}

}  // namespace

int bcast(const Call& call, void* caller) {
  return perform<Collective::bcast, serve_bcast, forward_bcast>(call, caller);
}

int gather(const Transfer& call, void* caller) {
  return perform<Collective::gather, serve_gather, forward_gather>(call, caller);
}

int gatherv(const Transfer& call, void* caller) {
  return perform<Collective::gatherv, serve_gatherv, forward_gatherv>(call, caller);
}

int scatter(const Transfer& call, void* caller) {
  return perform<Collective::scatter, serve_scatter, forward_scatter>(call, caller);
}

int scatterv(const Transfer& call, void* caller) {
  return perform<Collective::scatterv, serve_scatterv, forward_scatterv>(call, caller);
}

}  // namespace espalier::mpi
