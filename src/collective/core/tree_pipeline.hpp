// Chunks that go up a tree to its root and come down again, several of them under way (RG III-C).
#pragma once

#include <algorithm>
#include <array>

#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// At the root at_root(chunk) takes a chunk from all ranks and releases it. The others call send_up(chunk) for
/// some chunks before they take the first one that is released by take_down(chunk), so that both directions
/// are under way. These take less than the ring, so that no rank waits for a slot that only its own next step
/// frees.
template <Machine M, class AtRoot, class SendUp, class TakeDown>
void up_and_down(M& m, bool is_root, const Chunks& chunks, const AtRoot& at_root, const SendUp& send_up,
                 const TakeDown& take_down) {
  constexpr std::size_t most_ahead = 8;
  const std::size_t in_ring = static_cast<std::size_t>(m.slots() / chunks.span());
  const std::size_t ahead = std::min(in_ring / 2, most_ahead - 1);
  std::array<Chunk, most_ahead> under_way;
  // A released chunk has come from every rank, and before that each had finished all but the last `ahead`.
  const auto heard_from_all = [&](const Chunk& chunk, std::size_t index) {
    m.all_finished(chunk.steps.first - std::min(index, ahead) * static_cast<Step>(chunks.span()) - 1);
  };
  for (std::size_t i = 0; i < chunks.count() + ahead; ++i) {
    if (i < chunks.count()) {
      const Chunk chunk = under_way[i % most_ahead] = chunks.next(m, i);
      if (is_root) {
        at_root(chunk);
        heard_from_all(chunk, i);
      } else {
        send_up(chunk);
      }
    }
    if (i >= ahead) {
      const Chunk& chunk = under_way[(i - ahead) % most_ahead];
      if (!is_root) {
        take_down(chunk);
        heard_from_all(chunk, i - ahead);
      }
      m.finish(chunk.step());
    }
  }
}

}  // namespace espalier::collective
