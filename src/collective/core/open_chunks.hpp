// Chunks of calls in which no rank knows how long the others' messages are.
#pragma once

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// Cut by the plan alone, so that all ranks cut alike, and taken from one range of open steps: each pair of
/// ranks uses as many as its own data need, which both of them know. Every rank ends with m.finish(last()).
class OpenChunks {
 public:
  /// Chunks of at least `least` bytes, and of a size that the range suffices for.
  template <Machine M>
  OpenChunks(M& m, const Plan& plan, std::size_t least = 0) : OpenChunks(m, plan.chunk, least) {}
  template <Machine M>
  OpenChunks(M& m, std::size_t chunk, std::size_t least)
      : bytes_(bytes_of_each(m, chunk, least)),
        span_(span_of(m, bytes_)),
        range_(m.advance_open(span_, bytes_)) {}

  /// The slots of each such chunk.
  template <Machine M>
  static int span_by(const M& m, const Plan& plan, std::size_t least = 0) {
    return span_of(m, bytes_of_each(m, plan.chunk, least));
  }

  /// Of two ranks, which both expect so many rounds: their chunks lie in pairwise slots.
  template <Machine M>
  void use_pairwise_slots(M& m, std::size_t rounds) {
    range_.begin = m.with_pairwise_slots(range_.begin, rounds);
  }

  std::size_t chunk_bytes() const { return bytes_; }
  int span() const { return span_; }
  Step last() const { return range_.last; }

  /// Chunks of a message. Throws when there are more than steps for them.
  std::size_t count(std::size_t message) const {
    if (message <= bytes_) return message > 0;
    const std::size_t chunks = (message + bytes_ - 1) / bytes_;
    if (chunks > machine::open_steps / static_cast<Step>(span_))
      throw Error(
          formatted("a message of {} is more than {} chunks of {}; raise ESPALIER_SLOT and ESPALIER_CHUNK",
                    print_bytes(message), machine::open_steps, print_bytes(bytes_)));
    return chunks;
  }
  /// The chunk in which a byte of a message lies.
  std::size_t index_of(std::size_t offset) const { return offset < bytes_ ? 0 : offset / bytes_; }
  Chunk chunk(std::size_t index, std::size_t message) const {
    const std::size_t offset = index * bytes_;
    return {offset, std::min(bytes_, message - offset), steps(index)};
  }
  Steps steps(std::size_t index) const { return range_.begin.after(index); }

 private:
  template <Machine M>
  static std::size_t bytes_of_each(const M& m, std::size_t chunk, std::size_t least) {
    constexpr std::size_t smallest = 4096;
    const std::size_t ring = m.slot_bytes() * static_cast<std::size_t>(m.slots());
    return std::min(std::max({chunk, smallest, least}), ring);
  }

  std::size_t bytes_;
  int span_;
  machine::StepRange range_;
};

}  // namespace espalier::collective
