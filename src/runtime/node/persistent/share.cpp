#include "runtime/node/persistent/share.hpp"

#include <algorithm>
#include <cstring>

#include "collective/core/blocks.hpp"
#include "runtime/failure/liveness.hpp"
#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {
namespace {

using machine::Layout;

/// Shares up to this long are backed by one rank for all; in longer ones each rank backs its own buffers, in
/// its NUMA domain.
constexpr std::size_t most_around = 64 * 1024;

Layout layout_of(std::size_t ranks, int slots) {
  Layout layout;
  layout.ranks = static_cast<int>(ranks);
  layout.slots = slots;
  layout.slot_bytes = 0;
  layout.has_pairwise = false;
  layout.compact = true;
  return layout;
}

bool back(memory::Arena& arena, memory::Share share, const collective::BufferLayout& layout, int rank) {
  if (share.bytes <= most_around) return arena.reserve_around(share);
  const std::size_t lines = layout.region(0);
  if (!arena.reserve(share, 0, lines) ||
      !arena.reserve(share, layout.region(rank), layout.region_bytes(rank)) ||
      (rank == 0 && !arena.reserve(share, layout.common(), layout.common_bytes())))
    return false;
  arena.map_now(share, layout.region(rank), layout.region_bytes(rank), memory::Arena::Use::writing);
  return true;
}

/// Clears the lines of all ranks, and says which processes they are, as the communicator's share says.
void prepare_lines(std::byte* share, const Layout& layout, const SharedState& state) {
  std::memset(share, 0, layout.lines_bytes());
  const std::byte* const known = state.arena.at(state.share.offset);
  for (int rank = 0; rank < layout.ranks; ++rank)
    std::memcpy(share + layout.process(rank), known + state.layout.process(rank), Layout::process_bytes);
}

}  // namespace

void read_contributions(const Parts& all, Contributions& contributions) {
  contributions.make(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    contributions[rank] = {all[rank].given_bytes, all[rank].cells_bytes};
}

ShareLayout::ShareLayout(Collective collective, const Contributions& all)
    : layout(layout_of(all.size(), 2)),
      buffer_layout(collective, all, Layout::round_up(layout.bytes(), Layout::page)) {
  layout = layout_of(all.size(), buffer_layout.slots());
}

memory::Share offer_share(const SharedState& state, const collective::PersistentSpec& spec,
                          std::size_t cells_bytes) {
  // The root may be another rank, and this one give nothing.
  const std::size_t given = std::max(spec.given_bytes, spec.bytes);
  if (given > most_around) return {};
  Contributions all(static_cast<std::size_t>(state.layout.ranks));
  std::fill(all.begin(), all.end(),
            collective::Contribution{given, std::max(cells_bytes, 2 * collective::whole_lines(spec.bytes))});
  const ShareLayout share_layout(moves_as(spec), all);
  const std::size_t bytes = share_layout.buffer_layout.end();
  if (bytes > most_around || share_layout.layout.slots != 2) return {};
  return offer_lines(state, bytes);
}

machine::Layout persistent_lines(int ranks) { return layout_of(static_cast<std::size_t>(ranks), 2); }

memory::Share offer_lines(const SharedState& state, std::size_t bytes) {
  const memory::Share share = state.arena.allocate(bytes);
  if (!share) return {};
  if (!state.arena.reserve_around(share)) {
    state.arena.free(share);
    return {};
  }
  prepare_lines(state.arena.at(share.offset), persistent_lines(state.layout.ranks), state);
  return share;
}

bool has_room(std::size_t offered_bytes, const ShareLayout& share_layout) {
  return share_layout.layout.slots == 2 && share_layout.buffer_layout.end() <= offered_bytes;
}

bool open_region(memory::Arena& arena, memory::Share share, const ShareLayout& share_layout, int rank) {
  return back(arena, share, share_layout.buffer_layout, rank) &&
         prepare(arena, share, share_layout.layout, rank);
}

void write_cells(std::byte* base, const collective::BufferLayout& layout, int rank,
                 const collective::LayoutCells& cells) {
  std::memcpy(base + layout.table(rank, 0), cells.of.data(),
              cells.of.size() * sizeof(collective::LayoutCell));
}

void read_cells(const std::byte* base, const collective::BufferLayout& layout, int rank, Cells& cells) {
  for (int giver = 0; giver < static_cast<int>(cells.size()); ++giver)
    std::memcpy(&cells[static_cast<std::size_t>(giver)], base + layout.table(giver, rank),
                sizeof(collective::LayoutCell));
}

}  // namespace espalier::runtime
