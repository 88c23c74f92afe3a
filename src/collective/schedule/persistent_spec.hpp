// What one rank knows of a collective that is to be prepared (schedule.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/collective.hpp"
#include "collective/schedule/schedule.hpp"

namespace espalier::collective {

/// Made from this rank's arguments alone. What must be equal on all ranks is compared when they meet; then
/// `apart` is equal, too.
struct PersistentSpec {
  /// A part of what a rank gives.
  struct Place {
    std::size_t offset = 0, bytes = 0;
  };
  Collective collective{};
  int root = 0;
  std::size_t bytes = 0;  ///< by which rules would choose, see Communicator; the same on all ranks
  reduce::OperationCode operation =
      reduce::no_operation;  ///< the same on all ranks, also those that fold nothing
  std::vector<Schedule::Give> gives;
  std::size_t given_bytes = 0;
  std::vector<Place> places;  ///< by reader: the part of all given bytes that it reads; may be empty
  bool apart = false;         ///< every block has one reader alone, and lies by itself
  bool cut = false;           ///< the blocks are parts of a vector that is too long to ride in flag lines
  std::vector<Schedule::Take> wants;  ///< blocks of others, whose offsets there are not known yet
  Schedule::Keep keep;
  Schedule::Fold fold;
  std::size_t folded_from = 0;  ///< where the part that this rank folds begins in a whole vector
  std::vector<int> sources;     ///< the ranks that this one waits for

  /// Nothing, with the room of a spec that is used no more: a call that follows others asks for no memory.
  static PersistentSpec in(PersistentSpec&& used);

  /// How many bytes this rank reads of what `peer` gives.
  std::size_t arrives_from(int peer) const;
};

/// Ranks that all write and then all read would gain nothing by chunks.
constexpr bool goes_one_way(Collective collective) {
  using enum Collective;
  constexpr CollectiveSet one_way = {bcast, reduce, gather, gatherv, scatter, scatterv, scan, exscan};
  return one_way.contains(collective);
}

/// A reduce of long vectors over many ranks: they fold it in common, as an allreduce of which the root alone takes
/// the result. The root by itself took twice as long on 16 cores. Shorter ones leave the other ranks alone.
constexpr bool is_folded_by_all(Collective collective, std::size_t bytes, std::size_t ranks) {
  constexpr std::size_t least = 32 * 1024, few_ranks = 4;
  return collective == Collective::reduce && ranks > few_ranks && bytes >= least;
}

/// The collective whose blocks go as those of `spec` do. An operator that only the caller can apply is applied by
/// each rank to all vectors that it has got: nothing is folded in common.
inline Collective moves_as(const PersistentSpec& spec) {
  const bool is_folded_by_caller = spec.operation == reduce::user_operation;
  if (is_folded_by_caller)
    return spec.collective == Collective::allreduce ? Collective::allgather : spec.collective;
  return is_folded_by_all(spec.collective, spec.bytes, spec.places.size()) ? Collective::allreduce
                                                                           : spec.collective;
}

/// This rank's number, and the number of ranks.
struct RankInfo {
  int rank, size;
};

/// A block of a rank's buffer; no bytes: nothing is moved.
struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// `room`, of each: one that is used no more.
PersistentSpec barrier_spec(const RankInfo& rank_info, PersistentSpec&& room = {});

/// Blocks from each rank to each. `out`: what goes to each rank; blocks with the same address are given once.
/// `in`: where what comes from each rank goes. A block that a rank has for itself is copied, unless it is
/// there already.
PersistentSpec transfer_spec(const RankInfo& rank_info, Collective collective, int root, std::size_t bytes,
                             std::span<const Block> out, std::span<const Block> in,
                             PersistentSpec&& room = {});

/// The same of alltoallw and the neighbourhood collectives: of any number of pieces, which stay where they are
/// as long as the spec.
PersistentSpec pieces_spec(const RankInfo& rank_info, Collective collective, const PieceBlocks& out,
                           const PieceBlocks& in, PersistentSpec&& room = {});

/// reduce, allreduce, scan, exscan: vectors of `bytes`. `receive` is written on ranks that get a result.
PersistentSpec reduction_spec(const RankInfo& rank_info, Collective collective, int root,
                              const std::byte* send, std::byte* receive, std::size_t bytes,
                              const reduce::Operation& operation, PersistentSpec&& room = {});

/// The same call, in which the root of a reduce folds alone: for where ranks share no memory to fold in common.
PersistentSpec folded_by_root(PersistentSpec spec, int rank);

/// reduce_scatter(_block). `shares`: the bytes of the vector that each rank gets, in rank order; this rank's
/// go to `receive`.
PersistentSpec reduce_scatter_spec(const RankInfo& rank_info, Collective collective, const std::byte* send,
                                   std::byte* receive, std::span<const std::size_t> shares,
                                   const reduce::Operation& operation, PersistentSpec&& room = {});

}  // namespace espalier::collective
