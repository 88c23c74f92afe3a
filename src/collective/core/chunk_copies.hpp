// Copies of chunks into a rank's slots and out of another's, with what makes them fast.
#pragma once

#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// Copies a chunk of this rank's message into its slots, when they are free, for `readers`. The caller
/// publishes it. Returns which slots these are.
template <Machine M>
Steps copy_in(M& m, const Chunk& chunk, const void* message, std::span<const int> readers) {
  const Steps own = m.reserve(chunk.steps);
  std::byte* slot = m.slot(m.rank(), own);
  m.write_slot(own, slot, at(message, chunk.offset), chunk.bytes);
  m.flush_for_readers(slot, chunk.bytes);
  m.set_readers(own, readers);
  return own;
}

/// The same with a plain copy, for vectors that this rank has just computed or folds next: they stay in its
/// caches.
template <Machine M>
Steps copy_in_cached(M& m, const Chunk& chunk, const void* message, std::span<const int> readers) {
  const Steps own = m.reserve(chunk.steps);
  m.copy(m.slot(m.rank(), own), at(message, chunk.offset), chunk.bytes);
  m.set_readers(own, readers);
  return own;
}

/// Data that another rank has just written, and that this one reads now.
template <Machine M>
const std::byte* begin_reading(M& m, const std::byte* data, std::size_t bytes) {
  m.prefetch_pages(data, bytes);
  return data;
}

/// Copies a chunk of a message out of the slots of `writer` that it is in.
template <Machine M>
void copy_out(M& m, int writer, const Steps& there, const Chunk& chunk, void* message) {
  const std::byte* slot = begin_reading(m, m.slot(writer, there), chunk.bytes);
  m.copy(at(message, chunk.offset), slot, chunk.bytes);
}

}  // namespace espalier::collective
