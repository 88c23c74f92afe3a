// Allgather(v) and alltoall(v). No rank of an alltoallv knows what the others move: a rank with nothing to do
// still takes part.
#include "collective/core/blocks.hpp"
#include "generated/mpi/collectives/collectives.hpp"
#include "generated/mpi/collectives/forward.hpp"
#include "mpi/collectives/own_block.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/datatype/staging.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

int serve_allgather(Entry& entry, const Transfer& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send, receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  bytes = receive.block_bytes();
  if (!in_place && !send.look_at(call.send, 1)) return to_host;
  if (!in_place && send.bytes() != bytes) [[unlikely]]
    return refuse_own_block(entry, {Collective::allgather, 0, bytes}, send.bytes(), bytes);
  if (bytes == 0) return MPI_SUCCESS;
  receive.open(entry.comm);
  if (in_place) {
    receive.load(communicator.rank());
  } else {
    send.open(entry.comm);
    send.load();
  }
  const std::byte* own = receive.block(communicator.rank());
  if (!in_place && is_alias_for_host(call, send.data(), own, Collective::allgather)) [[unlikely]]
    return to_host;
  const void* from = in_place ? Communicator::in_place : unless_in(own, send.data());
  const bool done = communicator.allgather(from, receive.data(), bytes);
  if (done) receive.store();
  return served(done, entry, Collective::allgather, bytes);
}

int serve_allgatherv(Entry& entry, const Transfer& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  const int rank = communicator.rank();
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send;
  UnequalBlocks receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  if (!in_place && !send.look_at(call.send, 1)) return to_host;
  const std::size_t expected = receive.block_bytes(rank);
  if (receive.bytes() == 0 && (in_place || send.bytes() == 0))
    return MPI_SUCCESS;  // all ranks have the same counts
  bytes = collective::mean_block(receive.bytes(), static_cast<std::size_t>(communicator.size()));
  if (!in_place && send.bytes() > expected) [[unlikely]]
    return refuse_own_block(entry, {Collective::allgatherv, 0, bytes}, send.bytes(), expected);
  receive.open(entry.comm);
  if (in_place) {
    receive.load(rank);
  } else {
    open_unless_empty(send, entry.comm);
    send.load();
  }
  if (!in_place && is_alias_for_host(call, send, receive, rank, Collective::allgatherv)) [[unlikely]]
    return to_host;
  const bool is_short = !in_place && send.bytes() < expected;
  if (is_short) [[unlikely]]
    put_own_block(send, receive, rank);
  const bool stays = in_place || is_short || same_place(send, receive, rank);
  const bool done =
      communicator.allgatherv(stays ? Communicator::in_place : send.data(), receive.data(), receive.blocks());
  if (done) receive.store();
  return served(done, entry, Collective::allgatherv, bytes);
}

int serve_alltoall(Entry& entry, const Transfer& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  const bool in_place = is_in_place(call.send.buffer);
  EqualBlocks send, receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  bytes = receive.bytes();
  if (!in_place && !send.look_at(call.send, communicator.size())) return to_host;
  if (!in_place && send.bytes() != bytes) [[unlikely]]
    return refuse_own_block(entry, {Collective::alltoall, 0, bytes}, send.block_bytes(),
                            receive.block_bytes());
  if (bytes == 0) return MPI_SUCCESS;
  receive.open(entry.comm);
  if (in_place) {
    receive.load();
  } else {
    send.open(entry.comm);
    send.load();
  }
  if (!in_place && is_alias_for_host(call, send.data(), receive.data(), Collective::alltoall)) [[unlikely]]
    return to_host;
  const void* from = in_place ? Communicator::in_place : unless_in(receive.data(), send.data());
  const bool done = communicator.alltoall(from, receive.data(), receive.block_bytes());
  if (done) receive.store();
  return served(done, entry, Collective::alltoall, bytes);
}

/// Hosts that look for it do so where the program passes the same counts, too.
[[gnu::cold, gnu::noinline]] bool is_alias_for_host(const Transfer& call) {
  const auto place = [](const Part& part) { return static_cast<const std::byte*>(part.buffer); };
  return call.send.counts.data() == call.receive.counts.data() &&
         mpi::is_alias_for_host(call, place(call.send), place(call.receive), Collective::alltoallv);
}

int serve_alltoallv(Entry& entry, const Transfer& call, std::size_t&) {
  // First of all: behind the rest it took more instructions of calls that have nothing of it.
  if (call.send.buffer == call.receive.buffer && is_alias_for_host(call)) [[unlikely]]
    return to_host;
  Communicator& communicator = *entry.communicator;
  const int rank = communicator.rank();
  const bool in_place = is_in_place(call.send.buffer);
  UnequalBlocks send, receive;
  if (!receive.look_at(call.receive, communicator.size())) return to_host;
  if (!in_place && !send.look_at(call.send, communicator.size())) return to_host;
  if (!in_place && send.block_bytes(rank) > receive.block_bytes(rank)) [[unlikely]]
    return refuse_own_block(entry, {Collective::alltoallv, 0, 0}, send.block_bytes(rank),
                            receive.block_bytes(rank));
  receive.open(entry.comm);
  if (in_place) {
    receive.load();
  } else {
    send.open(entry.comm);
    send.load();
  }
  const bool done =
      communicator.alltoallv(in_place ? Communicator::in_place : send.data(),
                             in_place ? receive.blocks() : send.blocks(), receive.data(), receive.blocks());
  if (done) receive.store();
  return served(done, entry, Collective::alltoallv, 0);
}

}  // namespace

int allgather(const Transfer& call, void* caller) {
  return perform<Collective::allgather, serve_allgather, forward_allgather>(call, caller);
}

int allgatherv(const Transfer& call, void* caller) {
  return perform<Collective::allgatherv, serve_allgatherv, forward_allgatherv>(call, caller);
}

int alltoall(const Transfer& call, void* caller) {
  return perform<Collective::alltoall, serve_alltoall, forward_alltoall>(call, caller);
}

int alltoallv(const Transfer& call, void* caller) {
  return perform<Collective::alltoallv, serve_alltoallv, forward_alltoallv>(call, caller);
}

}  // namespace espalier::mpi
