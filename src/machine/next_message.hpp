// Hints for the next message of a rank, and of the other of two.
#pragma once

#include <algorithm>
#include <bit>

#include "machine/direct_reads.hpp"
#include "machine/prefetch_hints.hpp"

namespace espalier::machine {

/// Models TakesHints.
template <class Platform>
class NextMessage : public DirectReads<Platform> {
  using Base = DirectReads<Platform>;

 public:
  using Base::Base;
  using Base::rank;
  using Base::size;
  using Base::slot;
  using Base::slot_bytes;
  using typename Base::Line;

  /// A hint: the next message of this rank will be like this one, published on that channel, in chunks of
  /// that size. Readers of the former use still hold its lines; taken back now, while nothing waits, the
  /// round trip for that is not part of the next call. Short messages only: of longer ones the copy itself
  /// runs into the lines it needs, but not into their translations.
  void prefetch_own_next(Channel channel, const Steps& like, std::size_t bytes, std::size_t chunk) {
    constexpr std::size_t most = 16 * 1024;
    prefetch_own_line(channel);
    if (bytes <= memory::inline_capacity || like.buffers == Buffers::pairwise_slots) return;
    for_next_chunks(like, bytes, chunk, [&](const Steps& next, std::size_t part) {
      std::byte* const place = slot(rank(), next);
      hints::own_pages(place, part);
      if (bytes > most) return;
      hints::own_lines(&line(channel, rank(), next.first), sizeof(Line));
      hints::own_lines(place, part);
    });
  }
  /// A hint: the next message of this rank will ride in its line of that channel.
  void prefetch_own_line(Channel channel) {
    hints::own_lines(&line(channel, rank(), last_step() + 1), sizeof(Line));
  }

  /// A hint: of two, the other rank's next message will be like this one, in steps like these. A touch for
  /// each of its pages: a ring has more than a program leaves in the translation cache (docs/performance.md).
  void prefetch_read_next(const Steps& like, std::size_t bytes, std::size_t chunk) {
    if (size() != 2 || bytes <= memory::inline_capacity || like.buffers == Buffers::pairwise_slots) return;
    for_next_chunks(like, bytes, chunk, [&](const Steps& next, std::size_t part) {
      hints::touch_pages(slot(1 - rank(), next), part);
    });
  }

  /// A hint: this rank reads all of that now.
  void prefetch_pages(const void* data, std::size_t bytes) { hints::begin_pages(data, bytes); }

 protected:
  using Base::last_step;
  using Base::line;

 private:
  /// Calls body(steps, bytes) for the chunks that the next message would have if it were like this one, in
  /// steps like these, as far as it is worth it. Without a division: this is part of every short call.
  template <class Body>
  void for_next_chunks(Steps next, std::size_t bytes, std::size_t chunk, Body body) {
    constexpr std::size_t farthest = 64 * 1024;
    const Step span = chunk <= slot_bytes() ? 1 : std::bit_ceil((chunk + slot_bytes() - 1) / slot_bytes());
    next.first = (last_step() + span) & ~(span - 1);
    const std::size_t end = std::min(bytes, farthest);
    for (std::size_t done = 0; done < end; done += chunk, next.first += span)
      body(next, std::min(chunk, end - done));
  }
};

}  // namespace espalier::machine
