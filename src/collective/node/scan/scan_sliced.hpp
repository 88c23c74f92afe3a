// Scan and exscan of long vectors over more than a few ranks: each rank folds one slice of the elements for
// every rank, so the work of a rank does not grow with the number of ranks. The order is that of scan.hpp,
// and so the results are equal bit for bit.
#pragma once

#include "collective/core/chunk_copies.hpp"
#include "collective/core/slices.hpp"
#include "collective/node/scan/scan.hpp"

namespace espalier::collective {

namespace detail {

/// Within the own slice, every rank's vector becomes the fold of those up to it, where it lies: no other rank
/// looks at this slice before this rank says that it is done.
template <Machine M>
void scan_fold(M& m, const Reduction& r, const Chunk& chunk) {
  const Slice own = slice_of(m, chunk, m.rank(), r);
  if (own.bytes > 0) {
    m.await(Channel::gather, 0, chunk.step());
    for (int rank = 1; rank < m.size(); ++rank) {
      if (rank != m.rank()) m.await(Channel::gather, rank, chunk.step());
      std::byte* vector = m.slot(rank, chunk.steps) + own.begin;
      const void* sources[] = {m.slot(rank - 1, chunk.steps) + own.begin, vector};
      m.reduce(r.operation, vector, sources, 2, own.bytes);
    }
  }
  m.publish(Channel::release, chunk.step());
}

/// The result of scan lies in this rank's slot, that of exscan in the slot of the rank below.
template <Machine M>
void scan_copy_out(M& m, const Reduction& r, Prefix prefix, const Chunk& chunk) {
  const int rank = prefix == Prefix::inclusive ? m.rank() : m.rank() - 1;
  for (int i = 0; i < m.size() && rank >= 0; ++i) {
    const int owner = rank_behind(m, i);
    const Slice slice = slice_of(m, chunk, owner, r);
    if (slice.bytes == 0) continue;
    if (owner != m.rank()) m.await(Channel::release, owner, chunk.step());
    m.copy(at(r.receive, chunk.offset + slice.begin), m.slot(rank, chunk.steps) + slice.begin, slice.bytes);
  }
  m.finish(chunk.step());
}

}  // namespace detail

template <Machine M>
void scan_sliced(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  const auto show = [&](const Chunk& chunk) {
    copy_in(m, chunk, r.send, m.other_ranks());
    m.publish(Channel::gather, chunk.step());
  };
  detail::in_overlapping_chunks(
      m, Chunks(m, r.bytes, plan, r.operation.extent), show,
      [&](const Chunk& chunk) { detail::scan_fold(m, r, chunk); },
      [&](const Chunk& chunk) { detail::scan_copy_out(m, r, prefix, chunk); });
}

}  // namespace espalier::collective
