// Allgather, gather, scatter, alltoall: blocks of one length.
#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/forward.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/datatype/staging.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

/// What the runtime gets for data that is sent, or kept, where it lies already. Programs that pass a block's
/// own place instead of MPI_IN_PLACE break a rule that many hosts do not enforce (is_alias_for_host).
const void* unless_in(const std::byte* target, const std::byte* send) {
  return send == target ? Communicator::in_place : send;
}

void* in_place_target() { return const_cast<void*>(Communicator::in_place); }

int serve_allgather(const Transfer& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  Communicator& communicator = *entry->communicator;
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send, receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  bytes = receive.block_bytes();
  if (!in_place && (!send.look_at(call.send, 1) || send.bytes() != bytes)) return to_host;
  if (bytes == 0) return MPI_SUCCESS;
  receive.open(entry->comm);
  if (in_place) {
    receive.load(communicator.rank());
  } else {
    send.open(entry->comm);
    send.load();
  }
  const std::byte* own = receive.block(communicator.rank());
  if (!in_place && is_alias_for_host(call, send.data(), own, Collective::allgather)) [[unlikely]]
    return to_host;
  const void* from = in_place ? Communicator::in_place : unless_in(own, send.data());
  const bool done = communicator.allgather(from, receive.data(), bytes);
  if (done) receive.store();
  return served(done, *entry, Collective::allgather, bytes);
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
  if (!in_place && (!send.look_at(call.send, 1) || send.bytes() != bytes)) return to_host;
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

int serve_gather(const Transfer& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry || !is_rank(call.root, *entry->communicator)) return to_host;
  return entry->communicator->rank() == call.root ? gather_here(*entry, call, bytes)
                                                  : gather_to_others(*entry, call, bytes);
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
  if (!in_place && (!receive.look_at(call.receive, 1) || receive.bytes() != bytes)) return to_host;
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

int serve_scatter(const Transfer& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry || !is_rank(call.root, *entry->communicator)) return to_host;
  return entry->communicator->rank() == call.root ? scatter_from_here(*entry, call, bytes)
                                                  : scatter_from_others(*entry, call, bytes);
}

int serve_alltoall(const Transfer& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  Communicator& communicator = *entry->communicator;
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send, receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  bytes = receive.bytes();
  if (!in_place && (!send.look_at(call.send, communicator.size()) || send.bytes() != bytes)) return to_host;
  if (bytes == 0) return MPI_SUCCESS;
  receive.open(entry->comm);
  if (in_place) {
    receive.load();
  } else {
    send.open(entry->comm);
    send.load();
  }
  if (!in_place && is_alias_for_host(call, send.data(), receive.data(), Collective::alltoall)) [[unlikely]]
    return to_host;
  const void* from = in_place ? Communicator::in_place : unless_in(receive.data(), send.data());
  const bool done = communicator.alltoall(from, receive.data(), receive.block_bytes());
  if (done) receive.store();
  return served(done, *entry, Collective::alltoall, bytes);
}

}  // namespace

int allgather(const Transfer& call, void* caller) {
  return perform<serve_allgather, forward_allgather>(call, caller, Collective::allgather);
}

int gather(const Transfer& call, void* caller) {
  return perform<serve_gather, forward_gather>(call, caller, Collective::gather);
}

int scatter(const Transfer& call, void* caller) {
  return perform<serve_scatter, forward_scatter>(call, caller, Collective::scatter);
}

int alltoall(const Transfer& call, void* caller) {
  return perform<serve_alltoall, forward_alltoall>(call, caller, Collective::alltoall);
}

}  // namespace espalier::mpi
