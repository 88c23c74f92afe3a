// Allgatherv, gatherv, scatterv, alltoallv: blocks of any lengths at any displacements. But for allgatherv no
// rank knows what the others move: a rank with nothing to do still takes part.
#include "collective/core/blocks.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/forward.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/datatype/staging.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

/// A block that a program sends from, or receives to, its own place: see equal_transfers.cpp.
bool same_place(const EqualBlocks& block, const UnequalBlocks& blocks, int rank) {
  return block.bytes() > 0 && block.data() == blocks.block(rank);
}

bool is_alias_for_host(const Transfer& call, const EqualBlocks& block, const UnequalBlocks& blocks, int rank,
                       Collective collective) {
  return same_place(block, blocks, rank) &&
         mpi::is_alias_for_host(call, block.data(), blocks.block(rank), collective);
}

/// Nothing is moved from or to an empty block, and its datatype may be laid out in no way.
void open(EqualBlocks& block, MPI_Comm comm) {
  if (block.bytes() > 0) block.open(comm);
}

int serve_allgatherv(const Transfer& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  Communicator& communicator = *entry->communicator;
  const int rank = communicator.rank();
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send;
  UnequalBlocks receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  if (!in_place && (!send.look_at(call.send, 1) || send.bytes() != receive.block_bytes(rank))) return to_host;
  if (receive.bytes() == 0) return MPI_SUCCESS;  // all ranks have the same counts
  bytes = collective::mean_block(receive.bytes(), static_cast<std::size_t>(communicator.size()));
  receive.open(entry->comm);
  if (in_place) {
    receive.load(rank);
  } else {
    open(send, entry->comm);
    send.load();
  }
  if (!in_place && is_alias_for_host(call, send, receive, rank, Collective::allgatherv)) [[unlikely]]
    return to_host;
  const bool stays = in_place || same_place(send, receive, rank);
  const bool done =
      communicator.allgatherv(stays ? Communicator::in_place : send.data(), receive.data(), receive.blocks());
  if (done) receive.store();
  return served(done, *entry, Collective::allgatherv, bytes);
}

int gatherv_to_others(Entry& entry, const Transfer& call) {
  EqualBlocks send;
  if (!send.look_at(call.send, 1)) return to_host;
  open(send, entry.comm);
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
  if (!in_place && (!send.look_at(call.send, 1) || send.bytes() != receive.block_bytes(rank))) return to_host;
  receive.open(entry.comm);
  if (in_place) {
    receive.load(rank);
  } else {
    open(send, entry.comm);
    send.load();
  }
  if (!in_place && is_alias_for_host(call, send, receive, rank, Collective::gatherv)) [[unlikely]]
    return to_host;
  const bool stays = in_place || same_place(send, receive, rank);
  const bool done = communicator.gatherv(stays ? Communicator::in_place : send.data(),
                                         receive.block_bytes(rank), receive.data(), receive.blocks(), rank);
  if (done) receive.store();
  return served(done, entry, Collective::gatherv, 0);
}

int serve_gatherv(const Transfer& call, void* caller, std::size_t&) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry || !is_rank(call.root, *entry->communicator)) return to_host;
  return entry->communicator->rank() == call.root ? gatherv_here(*entry, call)
                                                  : gatherv_to_others(*entry, call);
}

int scatterv_from_others(Entry& entry, const Transfer& call) {
  EqualBlocks receive;
  if (!receive.look_at(call.receive, 1)) return to_host;
  open(receive, entry.comm);
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
  if (!in_place && (!receive.look_at(call.receive, 1) || receive.bytes() != send.block_bytes(rank)))
    return to_host;
  send.open(entry.comm);
  send.load();
  if (!in_place) open(receive, entry.comm);
  if (!in_place && is_alias_for_host(call, receive, send, rank, Collective::scatterv)) [[unlikely]]
    return to_host;
  const bool stays = in_place || same_place(receive, send, rank);
  void* to = stays ? const_cast<void*>(Communicator::in_place) : receive.data();
  const bool done = communicator.scatterv(send.data(), send.blocks(), to, send.block_bytes(rank), rank);
  if (done && !in_place) receive.store();
  return served(done, entry, Collective::scatterv, 0);
}

int serve_scatterv(const Transfer& call, void* caller, std::size_t&) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry || !is_rank(call.root, *entry->communicator)) return to_host;
  return entry->communicator->rank() == call.root ? scatterv_from_here(*entry, call)
                                                  : scatterv_from_others(*entry, call);
}

/// Hosts that look for it do so where the program passes the same counts, too.
[[gnu::cold, gnu::noinline]] bool is_alias_for_host(const Transfer& call) {
  const auto place = [](const Part& part) { return static_cast<const std::byte*>(part.buffer); };
  return call.send.counts.data() == call.receive.counts.data() &&
         mpi::is_alias_for_host(call, place(call.send), place(call.receive), Collective::alltoallv);
}

int serve_alltoallv(const Transfer& call, void* caller, std::size_t&) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  // First of all: behind the rest it took more instructions of calls that have nothing of it.
  if (call.send.buffer == call.receive.buffer && is_alias_for_host(call)) [[unlikely]]
    return to_host;
  Communicator& communicator = *entry->communicator;
  const int rank = communicator.rank();
  const bool in_place = is_in_place(call.send.buffer);
  UnequalBlocks send, receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  if (!in_place &&
      (!send.look_at(call.send, communicator.size()) || send.block_bytes(rank) != receive.block_bytes(rank)))
    return to_host;
  receive.open(entry->comm);
  if (in_place) {
    receive.load();
  } else {
    send.open(entry->comm);
    send.load();
  }
  const bool done =
      communicator.alltoallv(in_place ? Communicator::in_place : send.data(),
                             in_place ? receive.blocks() : send.blocks(), receive.data(), receive.blocks());
  if (done) receive.store();
  return served(done, *entry, Collective::alltoallv, 0);
}

}  // namespace

int allgatherv(const Transfer& call, void* caller) {
  return perform<serve_allgatherv, forward_allgatherv>(call, caller, Collective::allgatherv);
}

int gatherv(const Transfer& call, void* caller) {
  return perform<serve_gatherv, forward_gatherv>(call, caller, Collective::gatherv);
}

int scatterv(const Transfer& call, void* caller) {
  return perform<serve_scatterv, forward_scatterv>(call, caller, Collective::scatterv);
}

int alltoallv(const Transfer& call, void* caller) {
  return perform<serve_alltoallv, forward_alltoallv>(call, caller, Collective::alltoallv);
}

}  // namespace espalier::mpi
