// Allreduce for long messages: every rank folds its slice of a chunk straight from all others' slots, then
// all copy the slices together. Each rank moves about 2 (n-1)/n of the message in and out, whatever the
// number of ranks.
#pragma once

#include "collective/node/reductions/allreduce_pairwise.hpp"

namespace espalier::collective {

namespace detail {

/// Step 1: everything but the own slice goes into the own slot.
template <Machine M>
void sliced_copy_in(M& m, const Reduction& r, const Chunk& chunk) {
  const Slice own = slice_of(m, chunk, m.rank(), r);
  std::byte* slot = m.slot(m.rank(), chunk.steps);
  const std::byte* send = at(r.send, chunk.offset);
  const std::size_t end = own.begin + own.bytes;
  m.reserve(chunk.steps);
  m.write_slot(slot, send, own.begin);
  m.write_slot(slot + end, send + end, chunk.bytes - end);
  m.flush_for_readers(slot, chunk.bytes);
  m.set_readers(chunk.steps, m.other_ranks());
  m.publish(Channel::gather, chunk.step());
}

/// Step 2: the own slice is folded from the own buffer and all others' slots, in rank order, where it
/// belongs, and shown from there: a kernel's stores into a slot would wait for lines that others hold, while
/// a copy may go past the caches (memory/copy/streaming_copy.hpp).
template <Machine M>
void sliced_fold(M& m, const Reduction& r, const Chunk& chunk) {
  const Slice own = slice_of(m, chunk, m.rank(), r);
  const std::size_t place = chunk.offset + own.begin;
  for (const int peer : m.other_ranks()) {
    m.await(Channel::gather, peer, chunk.step());
    m.source_array()[peer] = m.slot(peer, chunk.steps) + own.begin;
  }
  fold_in_rank_order(m, r, at(r.receive, place), at(r.send, place), own.bytes);
  std::byte* shown = m.slot(m.rank(), chunk.steps) + own.begin;
  m.write_slot(shown, at(r.receive, place), own.bytes);
  m.flush_for_readers(shown, own.bytes);
  m.publish(Channel::release, chunk.step());
}

/// Step 3: the others' slices, as they become ready; each rank starts behind itself so that not all read the
/// same slot.
template <Machine M>
void sliced_copy_out(M& m, const Reduction& r, const Chunk& chunk) {
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    const Slice theirs = slice_of(m, chunk, peer, r);
    m.await(Channel::release, peer, chunk.step());
    m.copy(at(r.receive, chunk.offset + theirs.begin), m.slot(peer, chunk.steps) + theirs.begin,
           theirs.bytes);
  }
  m.finish(chunk.step());
}

}  // namespace detail

/// In place is safe: a chunk's own data have left the buffer (or been folded) before its result arrives.
template <Machine M>
void allreduce_sliced(M& m, const Reduction& r, const Plan& plan) {
  if (const PairwiseSlices slices(m, r); slices.serve()) return allreduce_pairwise(m, r, slices);
  detail::in_overlapping_chunks(
      m, Chunks(m, r.bytes, plan, r.operation.extent),
      [&](const Chunk& chunk) { detail::sliced_copy_in(m, r, chunk); },
      [&](const Chunk& chunk) { detail::sliced_fold(m, r, chunk); },
      [&](const Chunk& chunk) { detail::sliced_copy_out(m, r, chunk); });
}

}  // namespace espalier::collective
