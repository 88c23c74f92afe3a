#include "collective/schedule/buffer_layout.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "collective/core/blocks.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {
namespace {

using machine::Layout;

std::size_t longest_of(std::span<const Contribution> all) {
  std::size_t longest = 0;
  for (const Contribution& each : all) longest = std::max(longest, each.given_bytes);
  return longest;
}

Schedule::Chunks chunks_of(Collective collective, std::span<const Contribution> all, int log2_bytes) {
  const std::size_t longest = longest_of(all);
  if (longest <= std::size_t{1} << log2_bytes || !goes_one_way(collective)) return {};
  return {log2_bytes, static_cast<int>(std::bit_width((longest - 1) >> log2_bytes))};
}

/// Two ranks, or short vectors: each folds for itself. Else they fold in common, once.
std::size_t bytes_in_common(Collective collective, std::span<const Contribution> all) {
  constexpr std::size_t least = 4096;
  const std::size_t bytes = all.front().given_bytes;
  return collective == Collective::allreduce && all.size() > 2 && bytes >= least ? bytes : 0;
}

}  // namespace

LayoutCells::LayoutCells(const PersistentSpec& spec, int rank) : of(spec.places.size()) {
  const std::size_t whole = whole_lines(spec.given_bytes);
  for (std::size_t reader = 0; reader < of.size(); ++reader) {
    const PersistentSpec::Place& given = spec.places[reader];
    of[reader] = {given.offset, given.bytes, 0, whole};
    if (!spec.apart || given.bytes == 0) continue;
    // Both write only for each other, and so each hears from the other before it writes there again.
    const bool has_pairwise =
        reader != static_cast<std::size_t>(rank) && spec.arrives_from(static_cast<int>(reader)) > 0;
    const std::size_t arrives = has_pairwise ? spec.arrives_from(static_cast<int>(reader)) : 0;
    const std::size_t size = whole_lines(std::max(given.bytes, arrives));
    of[reader].place = bytes;
    of[reader].stride = has_pairwise ? 0 : size;
    bytes += has_pairwise ? size : 2 * size;
  }
  if (!spec.apart) bytes = 2 * whole;
}

BufferLayout::BufferLayout(Collective collective, std::span<const Contribution> all, std::size_t begin,
                           int log2_chunk)
    : all_(all.size()), chunks_(chunks_of(collective, all, log2_chunk)), begins_(all.size()), end_(begin) {
  std::copy(all.begin(), all.end(), all_.begin());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    begins_[rank] = end_;
    end_ += region_bytes(static_cast<int>(rank));
  }
  common_ = end_;
  end_ += Layout::round_up(bytes_in_common(collective, all), Layout::page);
}

std::size_t BufferLayout::table_bytes() const { return whole_lines(all_.size() * sizeof(LayoutCell)); }

std::size_t BufferLayout::table(int giver, int reader) const {
  return region(giver) + static_cast<std::size_t>(reader) * sizeof(LayoutCell);
}

std::size_t BufferLayout::region_bytes(int rank) const {
  return Layout::round_up(table_bytes() + all_[static_cast<std::size_t>(rank)].cells_bytes, Layout::page);
}

std::byte* BufferLayout::at(std::byte* base, int rank, const LayoutCell& cell) const {
  return base + region(rank) + table_bytes() + cell.place;
}

bool BufferLayout::rides_in_lines(const PersistentSpec& spec) const {
  return longest_of(all_) <= memory::inline_capacity && !spec.cut;
}

Schedule BufferLayout::prepare(PersistentSpec& spec, const LayoutCells& own, int rank, std::byte* base,
                               std::span<const LayoutCell> cells) const {
  Schedule schedule;
  schedule.gives = std::move(spec.gives);
  schedule.takes = std::move(spec.wants);
  schedule.sources = std::move(spec.sources);
  schedule.keep = spec.keep;
  schedule.fold = spec.fold;
  schedule.chunks = chunks_;
  schedule.inlined = rides_in_lines(spec);
  for (Schedule::Take& take : schedule.takes) take.offset = cells[static_cast<std::size_t>(take.peer)].offset;
  if (!schedule.inlined) place(spec, own, rank, base, cells, schedule);
  for (int peer = 0; peer < static_cast<int>(all_.size()); ++peer) {
    const bool reads = peer != rank && spec.places[static_cast<std::size_t>(peer)].bytes > 0;
    if (reads && std::count(schedule.sources.begin(), schedule.sources.end(), peer) == 0)
      schedule.readers.push_back(peer);
  }
  if (common_bytes() > 0) share_fold(spec, base, schedule);
  return schedule;
}

/// Addresses from which offsets in all that a rank gives count: a cell holds its block alone.
void BufferLayout::place(const PersistentSpec& spec, const LayoutCells& own, int rank, std::byte* base,
                         std::span<const LayoutCell> cells, Schedule& schedule) const {
  for (auto* addresses : {&schedule.out, &schedule.in}) addresses->reserve(all_.size());
  schedule.comes_back.reserve(all_.size());
  for (int peer = 0; peer < static_cast<int>(all_.size()); ++peer) {
    const LayoutCell &mine = own.of[static_cast<std::size_t>(peer)],
                     &theirs = cells[static_cast<std::size_t>(peer)];
    std::byte *const here = at(base, rank, mine), *const there = at(base, peer, theirs);
    const std::size_t skipped = spec.apart ? mine.offset : 0;
    const std::size_t read_from = spec.fold.ranks > 0 ? spec.fold.offset : theirs.offset;
    const std::size_t skipped_there = spec.apart ? read_from : 0;
    schedule.out.push_back({here - skipped, (mine.stride > 0 ? here + mine.stride : there) - skipped});
    schedule.in.push_back(
        {there - skipped_there, (theirs.stride > 0 ? there + theirs.stride : here) - skipped_there});
    schedule.comes_back.push_back(mine.stride > 0 ? 0 : theirs.bytes);
  }
}

/// In pieces of whole elements.
void BufferLayout::share_fold(const PersistentSpec& spec, std::byte* base, Schedule& schedule) const {
  constexpr std::size_t least = 4096, most = 64 * 1024;
  const std::size_t bytes = spec.fold.bytes;
  const std::size_t piece =
      Layout::round_up(std::clamp(bytes / all_.size(), least, most), spec.fold.operation->extent);
  schedule.shared = {base + common_, piece, static_cast<int>((bytes + piece - 1) / piece)};
}

}  // namespace espalier::collective
