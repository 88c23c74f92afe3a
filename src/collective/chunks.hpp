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
using machine::Machine;
using machine::Step;
using plan::Plan;

inline const std::byte* at(const void* base, std::size_t offset) {
  return static_cast<const std::byte*>(base) + offset;
}
inline std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }

/// One chunk: its bytes of the message, the first of the slots it lies in, and the step that is published for
/// it.
struct Chunk {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  Step first = 0;
  int span = 1;
  Step step() const { return first + static_cast<Step>(span) - 1; }
};

/// Cuts a message of `bytes` into chunks of at most `plan.chunk`, a multiple of `grain` (an element must not
/// be cut). All ranks cut alike, since all of it comes from the plan and the size.
class Chunks {
 public:
  template <Machine M>
  Chunks(const M& m, std::size_t bytes, const Plan& plan, std::size_t grain = 1) : bytes_(bytes) {
    const std::size_t ring = m.slot_bytes() * static_cast<std::size_t>(m.slots());
    chunk_ = std::min({plan.chunk, ring, std::max<std::size_t>(bytes, 1)});
    chunk_ = std::max(chunk_ / grain * grain, grain);
    const std::size_t slots = (chunk_ + m.slot_bytes() - 1) / m.slot_bytes();
    span_ = static_cast<int>(std::bit_ceil(slots));
  }

  /// No chunk at all for an empty message.
  std::size_t count() const { return (bytes_ + chunk_ - 1) / chunk_; }
  std::size_t chunk_bytes() const { return chunk_; }
  int span() const { return span_; }

  /// Takes the next step: call it for every chunk, in order, on every rank.
  template <Machine M>
  Chunk next(M& m, std::size_t index) const {
    const std::size_t offset = index * chunk_;
    return {offset, std::min(chunk_, bytes_ - offset), m.advance(span_, chunk_), span_};
  }

 private:
  std::size_t bytes_;
  std::size_t chunk_;
  int span_;
};

/// True when the message rides in the flag line.
inline bool rides_inline(std::size_t bytes, const Plan& plan) {
  return plan.inlined && bytes <= memory::inline_capacity;
}

}  // namespace espalier::collective
