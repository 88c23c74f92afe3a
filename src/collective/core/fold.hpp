// One rank folds every rank's vectors.
#pragma once

#include "collective/core/chunks.hpp"
#include "collective/core/reduction.hpp"

namespace espalier::collective::detail {

/// Folds `own` and the others' vectors, which are in m.source_array() by rank. In rank order, so that all
/// ranks compute the same bits (invariant 3).
template <class M>
  requires KnowsRanks<M> && HasKernels<M>
void fold_in_rank_order(M& m, const Reduction& r, void* result, const void* own, std::size_t bytes) {
  const void** vectors = m.source_array();
  vectors[m.rank()] = own;
  m.reduce(r.operation, result, vectors, m.size(), bytes);
}

}  // namespace espalier::collective::detail
