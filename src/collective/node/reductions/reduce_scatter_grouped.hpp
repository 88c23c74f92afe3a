// Reduce_scatter in groups: short blocks of one length, of many ranks. The order is that of reduce_scatter.hpp,
// and so the results are equal bit for bit.
#pragma once

#include <vector>

#include "collective/core/grouped_exchange.hpp"
#include "collective/core/reduction.hpp"

namespace espalier::collective {

/// A block of `bytes` for each rank. The result may lie on the start of the vector.
template <Machine M>
void reduce_scatter_grouped(M& m, const Reduction& r, std::size_t bytes, const Plan& plan) {
  const auto ranks = static_cast<std::size_t>(m.size());
  std::vector<std::byte> vectors(ranks * bytes);
  const auto take = [&](const std::byte* data, int rank, int count, const Part& part) {
    m.copy(vectors.data() + static_cast<std::size_t>(rank) * part.bytes, data,
           static_cast<std::size_t>(count) * part.bytes);
  };
  const auto fold = [&](const Part& part) {
    const void** sources = m.source_array();
    for (std::size_t rank = 0; rank < ranks; ++rank) sources[rank] = vectors.data() + rank * part.bytes;
    m.reduce(r.operation, at(r.receive, part.offset), sources, m.size(), part.bytes);
  };
  GroupedExchange(m, bytes, plan, r.operation.extent).run(r.send, take, fold);
}

}  // namespace espalier::collective
