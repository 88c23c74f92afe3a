// What makes the specs of all kinds of persistent collectives.
#pragma once

#include <algorithm>
#include <span>

#include "collective/core/blocks.hpp"
#include "collective/schedule/persistent_spec.hpp"

namespace espalier::collective::making {

inline void clear_places(PersistentSpec& spec, const RankInfo& rank_info) {
  spec.places.assign(static_cast<std::size_t>(rank_info.size), {});
}

/// Calls body(peer) for all other ranks, from the next higher one on and then from rank 0: so not all ranks
/// read from the same one at once.
template <class Body>
void around(const RankInfo& rank_info, Body body) {
  for (int i = 1; i < rank_info.size; ++i) {
    const int peer = rank_info.rank + i;
    body(peer < rank_info.size ? peer : peer - rank_info.size);
  }
}

/// What goes to a rank, or comes from it. Some pieces: then `data` is null.
struct Stream {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::span<const Piece> pieces{};
};

inline bool is_same(const Piece& one, const Piece& other) {
  return one.data == other.data && one.bytes == other.bytes && one.runs == other.runs;
}

inline bool are_same(std::span<const Piece> some, std::span<const Piece> others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(), is_same);
}

/// Adds what goes to `peer`. A block that is given already gets one more reader, unless blocks lie apart.
inline void give(PersistentSpec& spec, int peer, const Stream& block) {
  for (const auto& given : spec.gives)
    if (!spec.apart && given.source == block.data && given.bytes == block.bytes &&
        are_same(given.pieces, block.pieces)) {
      spec.places[static_cast<std::size_t>(peer)] = {given.offset, given.bytes};
      return;
    }
  // Short blocks may ride in flag lines, which have no room for gaps; longer ones begin on cache lines.
  const std::size_t end = spec.given_bytes;
  const std::size_t offset = block.bytes < line_bytes ? end : whole_lines(end);
  spec.places[static_cast<std::size_t>(peer)] = {offset, block.bytes};
  spec.gives.push_back({block.data, offset, block.bytes, peer, block.pieces});
  spec.given_bytes = offset + block.bytes;
}

}  // namespace espalier::collective::making
