#include "runtime/node/group/slot_pages.hpp"

namespace espalier::runtime {

bool should_map_slots(const machine::Layout& layout) {
  constexpr std::size_t most_bytes = std::size_t{4} << 20;
  return layout.ring_bytes() * static_cast<std::size_t>(layout.ranks) <= most_bytes;
}

// What this rank writes for writing: its own ring, and its pairwise cells with each other rank. What it only
// reads for reading, which takes less than half as long.
void map_slots(const memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank) {
  using enum memory::Arena::Use;
  const std::size_t cells = static_cast<std::size_t>(layout.pairwise_rounds()) * layout.pairwise_bytes();
  arena.map_now(share, layout.ring(rank), layout.ring_bytes(), writing);
  if (cells > 0) arena.map_now(share, layout.pairwise_area(rank), layout.pairwise_area_bytes(), writing);
  for (int peer = 0; peer < layout.ranks; ++peer) {
    if (peer == rank) continue;
    arena.map_now(share, layout.ring(peer), layout.ring_bytes(), reading);
    if (cells > 0) arena.map_now(share, layout.pairwise_cell(peer, rank, 0), cells, writing);
  }
}

}  // namespace espalier::runtime
