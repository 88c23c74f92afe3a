// Scan and exscan of long vectors over more than a few ranks: each rank does one slice of the elements for
// every rank, so the work of a rank does not grow with the number of ranks. The order is that of scan.hpp,
// and so are the bits.
#pragma once

#include <array>

#include "collective/node/allreduce_sliced.hpp"
#include "collective/node/scan.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M>
void scan_copy_in(M& m, const Reduction& r, const Chunk& chunk) {
  std::byte* slot = m.slot(m.rank(), chunk.steps);
  m.reserve(chunk.steps);
  m.write_slot(slot, at(r.send, chunk.offset), chunk.bytes);
  m.flush_for_readers(slot, chunk.bytes);
  m.set_readers(chunk.steps, m.everybody_else());
  m.publish(Channel::gather, chunk.step());
}

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

/// The result lies in the own slot, that of exscan in the slot of the rank below.
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

/// Neighbouring chunks overlap as in allreduce_sliced.
template <Machine M>
void scan_sliced(M& m, const Reduction& r, Prefix prefix, const Plan& plan) {
  const Chunks chunks(m, r.bytes, plan, r.operation.extent);
  const std::size_t in_ring = static_cast<std::size_t>(m.slots() / chunks.span());
  const std::size_t ahead = in_ring >= 4 ? 1 : 0;
  std::array<Chunk, 4> under_way;
  for (std::size_t i = 0; i < chunks.count() + 2 * ahead; ++i) {
    if (i < chunks.count()) {
      under_way[i % 4] = chunks.next(m, i);
      detail::scan_copy_in(m, r, under_way[i % 4]);
    }
    if (i >= ahead && i - ahead < chunks.count()) detail::scan_fold(m, r, under_way[(i - ahead) % 4]);
    if (i >= 2 * ahead && i - 2 * ahead < chunks.count())
      detail::scan_copy_out(m, r, prefix, under_way[(i - 2 * ahead) % 4]);
  }
}

}  // namespace espalier::collective
