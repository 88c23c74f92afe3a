// A message cut into chunks, each with its step.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "machine/concept.hpp"
#include "plan/plan.hpp"

namespace espalier::collective {

using machine::Channel;
using machine::HasKernels;
using machine::HasSlots;
using machine::KnowsRanks;
using machine::Machine;
using machine::Step;
using machine::Steps;
using plan::Plan;

inline const std::byte* at(const void* base, std::size_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}
inline std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }

/// The i-th rank behind this one, around. Where each begins behind itself, not all look at the same one.
template <KnowsRanks M>
int rank_behind(const M& m, int i) {
  const int rank = m.rank() + i;
  return rank < m.size() ? rank : rank - m.size();
}

/// One chunk: its bytes of the message, and its steps, which say where they lie.
struct Chunk {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  Steps steps{};
  /// The one that is published for it.
  Step step() const { return steps.last(); }
};

/// The slots that a chunk lies in: a power of two, so that they lie side by side. Short calls divide nothing,
/// here and below: it would take as long as a copy.
template <HasSlots M>
int span_of(const M& m, std::size_t chunk) {
  if (chunk <= m.slot_bytes()) return 1;
  return static_cast<int>(std::bit_ceil((chunk + m.slot_bytes() - 1) / m.slot_bytes()));
}

/// Cuts a message of `bytes` into chunks of at most `most` bytes, the plan's if nothing else is said, and a
/// multiple of `grain` (an element must not be cut). All ranks cut alike, since all of it comes from the plan
/// and the size.
class Chunks {
 public:
  template <HasSlots M>
  Chunks(const M& m, std::size_t bytes, const Plan& plan, std::size_t grain = 1)
      : Chunks(m, bytes, plan.chunk, grain) {}
  template <HasSlots M>
  Chunks(const M& m, std::size_t bytes, std::size_t most, std::size_t grain)
      : bytes_(bytes), count_(bytes > 0) {
    if (bytes <= std::min(most, m.slot_bytes())) {
      chunk_ = std::max(bytes, grain);
      return;
    }
    const std::size_t ring = m.slot_bytes() * static_cast<std::size_t>(m.slots());
    chunk_ = std::min({most, ring, bytes});
    chunk_ = std::max(chunk_ / grain * grain, grain);
    span_ = span_of(m, chunk_);
    count_ = (bytes + chunk_ - 1) / chunk_;
  }

  /// No chunk at all for an empty message.
  std::size_t count() const { return count_; }
  std::size_t message_bytes() const { return bytes_; }
  std::size_t chunk_bytes() const { return chunk_; }
  int span() const { return span_; }

  /// Takes the next step: call it for every chunk, in order, on every rank.
  template <Machine M>
  Chunk next(M& m, std::size_t index) const {
    const std::size_t offset = index * chunk_;
    return {offset, std::min(chunk_, bytes_ - offset), m.advance(span_, chunk_)};
  }
  /// The same where one rank alone writes and nothing rides inline.
  template <Machine M>
  Chunk next_one_way(M& m, std::size_t index) const {
    Chunk chunk = next(m, index);
    chunk.steps = m.with_short_ring(chunk.steps, bytes_);
    return chunk;
  }

 private:
  std::size_t bytes_;
  std::size_t count_;
  std::size_t chunk_;
  int span_ = 1;
};

/// True when the message rides in the flag line.
inline bool rides_inline(std::size_t bytes, const Plan& plan) {
  return plan.inlined && bytes <= memory::inline_capacity;
}

}  // namespace espalier::collective
