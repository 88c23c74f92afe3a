// A block that a program sends from, or receives to, the place where it lies already, in place of
// MPI_IN_PLACE: that breaks a rule which many hosts do not enforce (is_alias_for_host in staging.hpp).
#pragma once

#include <cstring>

#include "mpi/collectives/serve.hpp"
#include "mpi/datatype/staging.hpp"
#include "runtime/communicator/communicator.hpp"

namespace espalier::mpi {

/// What the runtime gets for data that is sent, or kept, where it lies already.
inline const void* unless_in(const std::byte* target, const std::byte* send) {
  return send == target ? runtime::Communicator::in_place : send;
}

inline void* in_place_target() { return const_cast<void*>(runtime::Communicator::in_place); }

inline bool same_place(const EqualBlocks& block, const UnequalBlocks& blocks, int rank) {
  return block.bytes() > 0 && block.data() == blocks.block(rank);
}

inline bool is_alias_for_host(const Transfer& call, const EqualBlocks& block, const UnequalBlocks& blocks,
                              int rank, Collective collective) {
  return same_place(block, blocks, rank) &&
         is_alias_for_host(call, block.data(), blocks.block(rank), collective);
}

/// Of alltoallw. Hosts that look for it do so where the program passes the same counts and datatypes, too.
[[gnu::cold, gnu::noinline]] inline bool has_aliases_for_host(const Transfer& call) {
  return call.send.buffer == call.receive.buffer && call.send.counts.data() == call.receive.counts.data() &&
         call.send.types.data() == call.receive.types.data() &&
         host_rejects_aliases(Collective::alltoallw, false);
}

/// Of a call in which this rank sends itself more than it takes, or other than that where all blocks are equally long.
[[gnu::cold, gnu::noinline]] inline int refuse_own_block(const Entry& entry, const machine::CallFacts& call,
                                                         std::size_t sent, std::size_t expected) {
  return entry.communicator->refuse_own_block(call, sent, expected) ? MPI_SUCCESS : to_host;
}

/// Of a call in which it sends itself less: as hosts do, that goes to its place, and the rest there stays.
[[gnu::cold, gnu::noinline]] inline void put_own_block(const EqualBlocks& send, UnequalBlocks& receive,
                                                       int rank) {
  receive.load(rank);
  if (send.bytes() > 0) std::memmove(receive.block(rank), send.data(), send.bytes());
}

/// Nothing is moved from or to an empty block, and its datatype may be laid out in no way.
inline void open_unless_empty(EqualBlocks& block, MPI_Comm comm) {
  if (block.bytes() > 0) block.open(comm);
}

}  // namespace espalier::mpi
