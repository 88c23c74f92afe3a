// Scan and exscan on trees: vectors go up packed, the root folds them one after the other, every rank copies
// its own result out of the root's slot. Two lines a rank instead of one for each rank below it: for short
// vectors of many ranks. The order is that of scan.hpp, and so the results are equal bit for bit.
#pragma once

#include "collective/core/gather_parts.hpp"
#include "collective/core/tree_pipeline.hpp"
#include "collective/node/scan/scan.hpp"

namespace espalier::collective {

namespace detail {

/// The same part of every rank's vector, of a chunk of all of them: edge(rank) for gather_parts.hpp.
struct PartOfVectors {
  std::size_t offset, bytes;  ///< in each vector

  PartOfVectors(const Chunk& chunk, int ranks)
      : offset(chunk.offset / static_cast<std::size_t>(ranks)),
        bytes(chunk.bytes / static_cast<std::size_t>(ranks)) {}
  std::size_t operator()(int rank) const { return static_cast<std::size_t>(rank) * bytes; }
};

/// Every rank's part becomes the fold of those up to it, where it lies.
template <Machine M>
void fold_prefixes(M& m, std::byte* parts, const PartOfVectors& part, const reduce::Operation& operation) {
  for (int rank = 1; rank < m.size(); ++rank) {
    const void* sources[] = {parts + part(rank - 1), parts + part(rank)};
    m.reduce(operation, parts + part(rank), sources, 2, part.bytes);
  }
}

/// This rank's result, out of the parts of all ranks; of an exscan rank 0 has none.
template <Machine M>
void copy_prefix(M& m, const Reduction& r, Prefix prefix, const std::byte* parts, const PartOfVectors& part) {
  const int rank = prefix == Prefix::inclusive ? m.rank() : m.rank() - 1;
  if (rank >= 0) m.copy(at(r.receive, part.offset), parts + part(rank), part.bytes);
}

}  // namespace detail

/// False where the slots of a rank cannot hold an element of every rank.
template <Machine M>
bool scan_tree_fits(const M& m, const Reduction& r) {
  return r.operation.extent * static_cast<std::size_t>(m.size()) <=
         m.slot_bytes() * static_cast<std::size_t>(m.slots());
}

/// `position`: of trees with root 0, the first made by gathering_position_of().
template <Machine M>
void scan_tree(M& m, const TreePositionPair& position, const Reduction& r, Prefix prefix, const Plan& plan) {
  const TreePosition &up = position.gather, &down = position.release;
  const auto ranks = static_cast<std::size_t>(m.size());
  const Chunks chunks(m, ranks * r.bytes, plan, ranks * r.operation.extent);
  const bool one_chunk = plan.inlined && chunks.count() == 1;
  const bool inlined = rides_inline(chunks.message_bytes(), plan);
  up_and_down(
      m, up.is_root(), chunks,
      [&](const Chunk& chunk) {
        const detail::PartOfVectors part(chunk, m.size());
        std::byte* parts = collect_parts(m, up, chunk.steps, at(r.send, part.offset), part, one_chunk);
        detail::fold_prefixes(m, parts, part, r.operation);
        pass_parts_down(m, down, chunk, parts, inlined, plan);
        detail::copy_prefix(m, r, prefix, parts, part);
      },
      [&](const Chunk& chunk) {
        const detail::PartOfVectors part(chunk, m.size());
        send_parts_up(m, up, chunk.steps, at(r.send, part.offset), part, one_chunk);
      },
      [&](const Chunk& chunk) {
        const std::byte* parts = await_parts(m, down, chunk, inlined, plan);
        detail::copy_prefix(m, r, prefix, parts, detail::PartOfVectors(chunk, m.size()));
      });
}

}  // namespace espalier::collective
