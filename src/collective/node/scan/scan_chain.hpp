// Scan and exscan from rank to rank: each folds its vector onto that of the rank below and shows the result to
// the rank above, chunk by chunk. A rank reads one vector, from a neighbour, and folds once, however many ranks
// there are. The order is that of scan.hpp, and so the results are equal bit for bit.
#pragma once

#include "collective/core/chunk_copies.hpp"
#include "collective/core/readers.hpp"
#include "collective/node/scan/scan.hpp"

namespace espalier::collective {

namespace detail {

/// The fold of this rank and all below it goes into its line or slot, for the rank above. Returns where it is.
template <Machine M>
const std::byte* show_prefix(M& m, const Reduction& r, const Chunk& chunk, const std::byte* below,
                             bool inlined) {
  const void* own = at(r.send, chunk.offset);
  m.reserve(chunk.steps);
  std::byte* target =
      inlined ? m.inline_buffer(Channel::gather, chunk.step()) : m.slot(m.rank(), chunk.steps);
  if (below) {
    const void* sources[] = {below, own};
    m.reduce(r.operation, target, sources, 2, chunk.bytes);
  } else if (inlined) {
    m.copy(target, own, chunk.bytes);
  } else {
    m.write_slot(target, own, chunk.bytes);
  }
  if (!inlined) m.flush_for_readers(target, chunk.bytes);
  m.set_readers(chunk.steps, readers(m, m.rank() + 1, m.rank() + 1));
  m.publish(Channel::gather, chunk.step());
  return target;
}

/// The last rank shows nothing.
template <Machine M>
void end_of_chain(M& m, const Reduction& r, Prefix prefix, const Chunk& chunk, const std::byte* below) {
  void* result = at(r.receive, chunk.offset);
  if (prefix == Prefix::exclusive) return m.copy(result, below, chunk.bytes);
  const void* sources[] = {below, at(r.send, chunk.offset)};
  m.reduce(r.operation, result, sources, 2, chunk.bytes);
}

}  // namespace detail

/// `below` and what this rank shows are read again after it has shown it: the rank above goes on meanwhile.
template <Machine M>
void scan_chain(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  const bool inlined = rides_inline(r.bytes, plan);
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next(m, i);
    const std::byte* below = nullptr;
    if (const int lower = m.rank() - 1; lower >= 0) {
      m.await(Channel::gather, lower, chunk.step());
      below = inlined ? m.inline_data(Channel::gather, lower, chunk.step())
                      : begin_reading(m, m.slot(lower, chunk.steps), chunk.bytes);
    }
    if (detail::is_last(m)) {
      detail::end_of_chain(m, r, prefix, chunk, below);
    } else {
      const std::byte* shown = detail::show_prefix(m, r, chunk, below, inlined);
      const std::byte* result = prefix == Prefix::inclusive ? shown : below;
      if (result) m.copy(at(r.receive, chunk.offset), result, chunk.bytes);
    }
    m.finish(chunk.step());
  }
}

}  // namespace espalier::collective
