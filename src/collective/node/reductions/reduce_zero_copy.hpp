// Reductions of vectors that all ranks can map (memory/heap/shared_heap.hpp): each rank folds its part
// straight from where the vectors lie, in rank order, so that all compute the same bits (invariant 3). What
// others must have of it they read in the result. Nothing goes through the slots.
#pragma once

#include "collective/node/all_to_all/exchange_single_copy.hpp"
#include "collective/node/reductions/allreduce_sliced.hpp"

namespace espalier::collective {

namespace detail {

/// What a rank says of its vector: where it lies, and whether the result will be written over it. 0: others
/// may not read it.
using LentVector = std::uint64_t;
inline constexpr LentVector in_place_mark = LentVector{1} << 63;  // no address of a program has it

template <Machine M>
LentVector expose_vector(M& m, const Reduction& r) {
  return m.can_expose(r.send, r.bytes, false) ? reinterpret_cast<LentVector>(r.send) : 0;
}
/// The same where the result is written over it: others read no more than their slices.
template <Machine M, class SliceOf>
LentVector expose_slices(M& m, const Reduction& r, const SliceOf& slice_of) {
  for (const int peer : m.other_ranks()) {
    const Part theirs = slice_of(peer);
    if (!m.can_expose(at(r.send, theirs.offset), theirs.bytes, false)) return 0;
  }
  return reinterpret_cast<LentVector>(r.send) | in_place_mark;
}

/// The vectors of all ranks.
template <Machine M>
class LentVectors {
 public:
  LentVectors(M& m, const Reduction& r) : m_(m), r_(r), in_place_(r.send == r.receive) {
    m.source_array()[m.rank()] = r.send;
  }
  void hear(int peer, LentVector vector) {
    m_.source_array()[peer] = reinterpret_cast<const void*>(vector & ~in_place_mark);
    in_place_ |= (vector & in_place_mark) != 0;
  }
  /// Whether any rank's result is written over its vector; when all have been heard.
  bool any_in_place() const { return in_place_; }

  /// That part of all of them, once.
  void fold(const Part& part, void* result) {
    if (part.bytes == 0) return;
    const void** sources = m_.source_array();
    sources[m_.rank()] = at(sources[m_.rank()], part.offset);
    for (const int peer : m_.other_ranks())
      sources[peer] = part_of_peer(peer, at(sources[peer], part.offset), part.bytes);
    m_.reduce(r_.operation, result, sources, m_.size(), part.bytes);
  }

 private:
  /// A copy where the peer's heap cannot be mapped any more.
  const void* part_of_peer(int peer, const void* there, std::size_t bytes) {
    if (const void* here = m_.view(peer, there, bytes)) return here;
    std::vector<std::byte>& copy = copies_.emplace_back(bytes);
    m_.pull(peer, copy.data(), there, bytes);
    return copy.data();
  }

  M& m_;
  const Reduction& r_;
  bool in_place_;
  std::vector<std::vector<std::byte>> copies_;
};

/// Each rank folds its slice where it belongs, and reads the others' there. In place is safe: others have
/// folded a slice before its result arrives.
template <Machine M, class SliceOf>
void fold_and_spread(M& m, const Reduction& r, LentVectors<M>& vectors, const SliceOf& slice_of, Step step) {
  const Part own = slice_of(m.rank());
  void* result = at(r.receive, own.offset);
  vectors.fold(own, result);
  // What others are refused to read since the call began they are given by pull().
  m.can_expose(result, own.bytes, false);
  const auto mine = reinterpret_cast<std::uint64_t>(result);
  m.publish_inline(Channel::release, step, &mine, sizeof mine);
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    const Part theirs = slice_of(peer);
    if (theirs.bytes == 0) continue;
    m.await(Channel::release, peer, step);
    std::uint64_t there;
    std::memcpy(&there, m.inline_data(Channel::release, peer, step), sizeof there);
    pull_block(m, peer, at(r.receive, theirs.offset), there, theirs.bytes);
  }
}

}  // namespace detail

/// Part of reduce_scatter(), as allgather_single_copy() is of allgather(). A rank whose result would
/// overwrite what others read lets no rank read.
template <Machine M, class B>
bool reduce_scatter_zero_copy(M& m, const Reduction& r, const B& blocks) {
  detail::LentVectors<M> vectors(m, r);
  const auto fold = [&](Step) {
    vectors.fold({blocks.offset_of(m.rank()), blocks.bytes_of(m.rank())}, r.receive);
  };
  return detail::exchange_addresses(
      m, r.send == r.receive ? 0 : detail::expose_vector(m, r),
      [&](int peer, detail::LentVector vector) { vectors.hear(peer, vector); }, fold);
}

/// Allreduce likewise; false where a rank's vectors are not to be read by others.
template <Machine M>
bool allreduce_zero_copy(M& m, const Reduction& r) {
  // Of two ranks each folds all of short vectors: to read a result from the other's cache takes longer than
  // to compute it. Of long ones the results are in a cache that both share.
  constexpr std::size_t longest_whole = 512 * 1024;
  const Part whole = {0, r.bytes};
  const auto slice = [&](int rank) {
    const detail::Slice some = detail::slice_of(m, Chunk{0, r.bytes}, rank, r);
    return Part{some.begin, some.bytes};
  };
  detail::LentVectors<M> vectors(m, r);
  const auto act = [&](Step step) {
    if (m.size() == 2 && r.bytes <= longest_whole && !vectors.any_in_place())
      vectors.fold(whole, r.receive);
    else
      detail::fold_and_spread(m, r, vectors, slice, step);
  };
  detail::LentVector mine = 0;
  if (m.can_expose(r.receive, r.bytes, false))
    mine = r.send == r.receive ? detail::expose_slices(m, r, slice) : detail::expose_vector(m, r);
  return detail::exchange_addresses(
      m, mine, [&](int peer, detail::LentVector vector) { vectors.hear(peer, vector); }, act);
}

}  // namespace espalier::collective
