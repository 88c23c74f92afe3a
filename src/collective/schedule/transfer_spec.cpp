// Makes the spec of a rank for each kind of persistent collective that moves blocks, and for barriers.
#include <algorithm>
#include <utility>

#include "collective/schedule/persistent_spec.hpp"
#include "collective/schedule/spec_parts.hpp"

namespace espalier::collective {
namespace {

using making::are_same;
using making::around;
using making::clear_places;
using making::give;
using making::Stream;

/// Whether each rank has blocks for one reader each. The same on all ranks.
bool lies_apart(Collective collective, int ranks) {
  using enum Collective;
  constexpr CollectiveSet by_reader = {alltoall,          alltoallv,          alltoallw,
                                       neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw};
  return ranks == 2 || by_reader.contains(collective);
}

/// `out(rank)`, `in(rank)`: the Stream that goes there, or comes from there.
template <class Out, class In>
void transfer(PersistentSpec& spec, const RankInfo& rank_info, Out out, In in) {
  clear_places(spec, rank_info);
  spec.apart = lies_apart(spec.collective, rank_info.size);
  around(rank_info, [&](int peer) {
    if (const Stream given = out(peer); given.bytes > 0) give(spec, peer, given);
    const Stream wanted = in(peer);
    if (wanted.bytes == 0) return;
    spec.wants.push_back({peer, 0, wanted.bytes, wanted.data, wanted.pieces});
    spec.sources.push_back(peer);
  });
  const Stream from = out(rank_info.rank), to = in(rank_info.rank);
  const std::size_t kept = std::min(from.bytes, to.bytes);
  if (kept > 0 && (from.data != to.data || !are_same(from.pieces, to.pieces)))
    spec.keep = {from.data, to.data, kept, from.pieces, to.pieces};
}

Stream stream_at(std::span<const Block> blocks, int rank) {
  const auto i = static_cast<std::size_t>(rank);
  return i < blocks.size() ? Stream{blocks[i].data, blocks[i].bytes} : Stream{};
}

Stream stream_at(const PieceBlocks& blocks, int rank) {
  const PieceBlock block = blocks.block(rank);
  const std::size_t bytes = blocks.bytes_of(rank);
  if (bytes == 0) return {};
  if (const std::byte* dense = dense_address(block)) return {const_cast<std::byte*>(dense), bytes};
  return {nullptr, bytes, block.pieces};
}

}  // namespace

PersistentSpec barrier_spec(const RankInfo& rank_info, PersistentSpec&& room) {
  PersistentSpec spec = PersistentSpec::in(std::move(room));
  spec.collective = Collective::barrier;
  clear_places(spec, rank_info);
  around(rank_info, [&](int peer) { spec.sources.push_back(peer); });
  return spec;
}

PersistentSpec transfer_spec(const RankInfo& rank_info, Collective collective, int root, std::size_t bytes,
                             std::span<const Block> out, std::span<const Block> in, PersistentSpec&& room) {
  PersistentSpec spec = PersistentSpec::in(std::move(room));
  spec.collective = collective;
  spec.root = root;
  spec.bytes = bytes;
  transfer(
      spec, rank_info, [&](int rank) { return stream_at(out, rank); },
      [&](int rank) { return stream_at(in, rank); });
  return spec;
}

PersistentSpec pieces_spec(const RankInfo& rank_info, Collective collective, const PieceBlocks& out,
                           const PieceBlocks& in, PersistentSpec&& room) {
  PersistentSpec spec = PersistentSpec::in(std::move(room));
  spec.collective = collective;
  transfer(
      spec, rank_info, [&](int rank) { return stream_at(out, rank); },
      [&](int rank) { return stream_at(in, rank); });
  return spec;
}

}  // namespace espalier::collective
