// Scan and exscan for operators that only the caller can apply, to whole vectors: distances double, so every
// rank folds and moves log2(ranks) whole vectors.
#pragma once

#include <memory>

#include "collective/core/readers.hpp"
#include "collective/node/reductions/reduce_whole.hpp"
#include "collective/node/scan/scan.hpp"

namespace espalier::collective {

namespace detail {

/// Every rank gets the vector of the rank `distance` below it, where there is one. Chunks are cut by packed
/// bytes, as in reduce_whole.
template <Machine M>
void shift_up(M& m, const std::byte* own, std::byte* below, std::size_t bytes, int distance,
              const Plan& plan) {
  const Chunks chunks(m, bytes, plan);
  const int from = m.rank() - distance, to = m.rank() + distance;
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next(m, i);
    if (to < m.size()) {
      copy_in_cached(m, chunk, own, readers(m, to, to));
      m.publish(Channel::gather, chunk.step());
    }
    if (from >= 0) {
      m.await(Channel::gather, from, chunk.step());
      m.copy(below + chunk.offset, m.slot(from, chunk.steps), chunk.bytes);
    }
    m.finish(chunk.step());
  }
}

}  // namespace detail

/// After the distance d a rank holds the fold of the 2d ranks that end with it, lower ranks on the left.
template <Machine M>
void scan_whole(M& m, const void* send, void* receive, std::size_t bytes, Prefix prefix,
                const WholeOperation& operation, const Plan& plan) {
  const std::unique_ptr<std::byte[]> own(new std::byte[bytes]), below(new std::byte[bytes]);
  m.copy(own.get(), send, bytes);
  for (int distance = 1; distance < m.size(); distance *= 2) {
    detail::shift_up(m, own.get(), below.get(), bytes, distance, plan);
    if (m.rank() >= distance) operation.combine(operation.context, below.get(), own.get());
  }
  if (prefix == Prefix::inclusive) {
    m.copy(receive, own.get(), bytes);
    return;
  }
  detail::shift_up(m, own.get(), below.get(), bytes, 1, plan);
  if (m.rank() > 0) m.copy(receive, below.get(), bytes);
}

}  // namespace espalier::collective
