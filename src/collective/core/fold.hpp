// One rank folds every rank's vectors.
#pragma once

#include "collective/core/chunks.hpp"
#include "collective/core/reduction.hpp"

namespace espalier::collective {

namespace detail {

/// Folds all ranks' vectors in rank order, so that all ranks compute the same bits (invariant 3). `of(peer)`
/// gives a peer's vector once it is there.
template <Machine M, class Source>
void fold_in_rank_order(M& m, void* result, const void* own, std::size_t bytes, const Reduction& r,
                        Source of) {
  const void** sources = m.source_array();
  for (int rank = 0; rank < m.size(); ++rank) sources[rank] = rank == m.rank() ? own : of(rank);
  m.reduce(r.operation, result, sources, m.size(), bytes);
}

}  // namespace detail

}  // namespace espalier::collective
