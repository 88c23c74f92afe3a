// Makes the spec of a rank for each kind of persistent reduction.
#include "collective/schedule/persistent_spec.hpp"

#include <numeric>
#include <utility>

#include "collective/schedule/spec_parts.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {
namespace {

using making::around;
using making::clear_places;
using making::give;

/// All of a vector, of which each rank reads its part.
void give_whole(PersistentSpec& spec, const RankInfo& rank_info, const std::byte* send) {
  spec.gives.push_back({send, 0, spec.bytes, rank_info.rank});
  spec.given_bytes = spec.bytes;
}

/// A Block's data can be written, but what a rank gives is only read.
std::byte* data_of(const std::byte* send) { return const_cast<std::byte*>(send); }

/// This rank does the fold `wanted`, and waits for the other ranks whose vectors are in it.
void fold(PersistentSpec& spec, const RankInfo& rank_info, Schedule::Fold wanted) {
  if (wanted.ranks == 0 || wanted.bytes == 0) return;
  spec.fold = wanted;
  around(rank_info, [&](int peer) {
    if (peer >= wanted.first && peer < wanted.first + wanted.ranks) spec.sources.push_back(peer);
  });
}

/// How many ranks, from rank 0 on, `rank` folds, for itself or a part of it for all.
int folded_by(int rank, const RankInfo& rank_info, Collective collective, int root) {
  switch (collective) {
    case Collective::scan:
      return rank + 1;
    case Collective::exscan:
      return rank;
    case Collective::reduce:
      return rank == root ? rank_info.size : 0;
    default:
      return rank_info.size;
  }
}

}  // namespace

PersistentSpec PersistentSpec::in(PersistentSpec&& used) {
  PersistentSpec spec;
  spec.gives.swap(used.gives);
  spec.places.swap(used.places);
  spec.wants.swap(used.wants);
  spec.sources.swap(used.sources);
  spec.gives.clear();
  spec.places.clear();
  spec.wants.clear();
  spec.sources.clear();
  return spec;
}

std::size_t PersistentSpec::arrives_from(int peer) const {
  if (peer >= fold.first && peer < fold.first + fold.ranks) return fold.bytes;
  for (const Schedule::Take& want : wants)
    if (want.peer == peer) return want.bytes;
  return 0;
}

PersistentSpec reduction_spec(const RankInfo& rank_info, Collective collective, int root,
                              const std::byte* send, std::byte* receive, std::size_t bytes,
                              const reduce::Operation& operation, PersistentSpec&& room) {
  PersistentSpec spec = PersistentSpec::in(std::move(room));
  spec.collective = collective;
  spec.root = root;
  spec.bytes = bytes;
  spec.operation = operation.code;
  clear_places(spec, rank_info);
  spec.apart = rank_info.size == 2;
  const Collective moves = moves_as(spec);
  around(rank_info, [&](int peer) {
    if (rank_info.rank < folded_by(peer, rank_info, moves, root)) give(spec, peer, {data_of(send), bytes});
  });
  std::byte* const target = collective == Collective::reduce && rank_info.rank != root ? nullptr : receive;
  fold(spec, rank_info,
       {&operation, 0, folded_by(rank_info.rank, rank_info, moves, root), 0, bytes, target, send});
  return spec;
}

PersistentSpec folded_by_root(PersistentSpec spec, int rank) {
  if (spec.collective != Collective::reduce) return spec;
  for (std::size_t reader = 0; reader < spec.places.size(); ++reader)
    if (static_cast<int>(reader) != spec.root) spec.places[reader] = {};
  if (rank == spec.root) return spec;
  spec.fold = {};
  spec.sources.clear();
  return spec;
}

PersistentSpec reduce_scatter_spec(const RankInfo& rank_info, Collective collective, const std::byte* send,
                                   std::byte* receive, std::span<const std::size_t> shares,
                                   const reduce::Operation& operation, PersistentSpec&& room) {
  PersistentSpec spec = PersistentSpec::in(std::move(room));
  spec.collective = collective;
  spec.bytes = std::accumulate(shares.begin(), shares.end(), std::size_t{0});
  spec.operation = operation.code;
  clear_places(spec, rank_info);
  // Two ranks that get as much give each other a block, and need no table. A vector that fits a flag line rides there
  // whole: so every rank finds its part at the same place.
  const bool is_swap = shares.size() == 2 && shares[0] == shares[1];
  spec.cut = !is_swap && spec.bytes > memory::inline_capacity;
  spec.apart = is_swap || spec.cut;
  std::size_t begin = 0;
  for (std::size_t rank = 0; rank < shares.size(); begin += shares[rank++]) {
    const bool is_own = rank == static_cast<std::size_t>(rank_info.rank);
    // In place, another part of the vector lies where the result goes: they must not overlap.
    const bool is_read_as_given = is_own && send == receive && begin > 0 && !is_swap;
    const std::byte* own = is_read_as_given ? nullptr : send + begin;
    const std::size_t offset = is_swap ? 0 : begin;
    if (is_own) {
      fold(spec, rank_info, {&operation, 0, rank_info.size, offset, shares[rank], receive, own});
      spec.folded_from = begin;
    }
    if (shares[rank] == 0) continue;
    if (!spec.apart)
      spec.places[rank] = {begin, shares[rank]};
    else if (!is_own || is_read_as_given)
      give(spec, static_cast<int>(rank), {data_of(send) + begin, shares[rank]});
  }
  if (!spec.apart && spec.bytes > 0) give_whole(spec, rank_info, send);
  return spec;
}

}  // namespace espalier::collective
