#include "collective/plot.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "collective/blocks.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {
namespace {

using machine::Layout;

std::size_t longest_of(std::span<const Contribution> all) {
  std::size_t longest = 0;
  for (const Contribution& each : all) longest = std::max(longest, each.bytes);
  return longest;
}

/// Whether some read while others still write. The root of a gather, and that of a scatter to one other rank,
/// copies its own block meanwhile, which takes as long.
bool goes_one_way(Collective collective, std::size_t ranks) {
  using enum Collective;
  constexpr std::array always = {bcast, reduce, scan, exscan};
  if (collective == scatter || collective == scatterv) return ranks > 2;
  return std::count(always.begin(), always.end(), collective) > 0;
}

Prepared::Chunks chunks_of(Collective collective, std::span<const Contribution> all, int log2_bytes) {
  const std::size_t longest = longest_of(all);
  if (longest <= std::size_t{1} << log2_bytes || !goes_one_way(collective, all.size())) return {};
  return {log2_bytes, static_cast<int>(std::bit_width((longest - 1) >> log2_bytes))};
}

/// Two ranks, or short vectors: each folds for itself. Else they fold in common, once.
std::size_t bytes_in_common(Collective collective, std::span<const Contribution> all) {
  constexpr std::size_t least = 4096;
  const std::size_t bytes = all.front().bytes;
  return collective == Collective::allreduce && all.size() > 2 && bytes >= least ? bytes : 0;
}

}  // namespace

Plot::Plot(Collective collective, std::span<const Contribution> all, std::size_t begin, int log2_chunk)
    : all_(all.begin(), all.end()), chunks_(chunks_of(collective, all, log2_chunk)) {
  // Both write only for each other, and so each hears from the other before it writes there again.
  trades_ = all.size() == 2 && all.front().keeps_own && all.back().keeps_own;
  end_ = begin;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    begins_.push_back(end_);
    strides_.push_back(whole_lines(trades_ ? longest_of(all) : all[rank].bytes));
    end_ += region_bytes(static_cast<int>(rank));
  }
  common_ = end_;
  end_ += Layout::round_up(bytes_in_common(collective, all), Layout::page);
}

std::size_t Plot::table_bytes() const { return whole_lines(all_.size() * sizeof(Recipe::Place)); }

std::size_t Plot::table(int giver, int reader) const {
  return region(giver) + static_cast<std::size_t>(reader) * sizeof(Recipe::Place);
}

std::size_t Plot::region_bytes(int rank) const {
  const std::size_t room = (trades_ ? 1 : 2) * strides_[static_cast<std::size_t>(rank)];
  return Layout::round_up(table_bytes() + room, Layout::page);
}

std::size_t Plot::place(std::size_t rank, std::size_t parity) const {
  const std::size_t region = trades_ ? (rank + parity) % 2 : rank;
  return begins_[region] + table_bytes() + (trades_ ? 0 : parity * strides_[rank]);
}

Prepared Plot::prepare(const Recipe& recipe, int rank, std::byte* base,
                       std::span<const Recipe::Place> places) const {
  Prepared prepared;
  prepared.gives = recipe.gives;
  prepared.keep = recipe.keep;
  prepared.fold = recipe.fold;
  prepared.chunks = chunks_;
  prepared.sources = recipe.sources;
  prepared.inlined = longest_of(all_) <= memory::inline_capacity;
  if (trades_) prepared.comes_back = all_[static_cast<std::size_t>(1 - rank)].bytes;
  for (std::size_t peer = 0; peer < all_.size(); ++peer)
    prepared.places.push_back({base + place(peer, 0), base + place(peer, 1)});
  for (const Recipe::Want& want : recipe.wants)
    prepared.takes.push_back(
        {want.peer, places[static_cast<std::size_t>(want.peer)].offset, want.bytes, want.target});
  for (int peer = 0; peer < static_cast<int>(all_.size()); ++peer) {
    const bool reads = peer != rank && recipe.places[static_cast<std::size_t>(peer)].bytes > 0;
    if (reads && std::count(prepared.sources.begin(), prepared.sources.end(), peer) == 0)
      prepared.readers.push_back(peer);
  }
  if (common_bytes() > 0) share_fold(recipe, base, prepared);
  return prepared;
}

/// In pieces of whole elements.
void Plot::share_fold(const Recipe& recipe, std::byte* base, Prepared& prepared) const {
  constexpr std::size_t least = 4096, most = 64 * 1024;
  const std::size_t bytes = recipe.fold.bytes;
  const std::size_t piece =
      Layout::round_up(std::clamp(bytes / all_.size(), least, most), recipe.fold.operation->extent);
  prepared.shared = {base + common_, piece, static_cast<int>((bytes + piece - 1) / piece)};
}

}  // namespace espalier::collective
