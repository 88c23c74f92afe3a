// Allreduce in slices for ranks that share cores: a reduce_scatter by pairwise cells, after which each rank
// answers in the cells that it has just read, with its slice of the result for each other rank.
#pragma once

#include "collective/core/pairwise_cells.hpp"
#include "collective/core/slices.hpp"
#include "collective/node/reductions/allreduce_exchange.hpp"

namespace espalier::collective {

/// A message in chunks whose slices fit in pairwise cells.
class PairwiseSlices {
 public:
  template <Machine M>
  PairwiseSlices(const M& m, const Reduction& r) : bytes_(r.bytes), few_(m.size() <= 8) {
    if (m.pairwise_rounds() != 1) return;
    const std::size_t grain = detail::slice_grain(r.operation.extent);
    const std::size_t grains = grain * static_cast<std::size_t>(m.size());  // one for each rank
    chunk_ = m.pairwise_bytes() / grain * grains;
    if (chunk_ > 0 && bytes_ > 0) step_ = machine::Layout::round_up((bytes_ - 1) / chunks() + 1, grains);
  }

  /// For ranks that meet between their rounds; with a core each they had better overlap them. Each answers
  /// each other: of many, in long messages, that writes too much (docs/performance.md).
  bool serve() const { return chunk_ > 0 && (few_ || bytes_ <= chunk_); }
  /// Each takes two rounds: contributions, answers.
  std::size_t chunks() const { return (bytes_ + chunk_ - 1) / chunk_; }
  /// Of about the same length, as PairwiseCells::part().
  Chunk chunk(std::size_t index) const {
    const Part part = part_of(bytes_, index, step_);
    return {.offset = part.offset, .bytes = part.bytes};
  }

 private:
  std::size_t bytes_;
  bool few_;
  std::size_t chunk_ = 0;
  std::size_t step_ = 0;
};

namespace detail {

template <Machine M>
void write_contributions(M& m, const Reduction& r, const Chunk& chunk, const Round& round) {
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    const Slice theirs = slice_of(m, chunk, peer, r);
    m.copy(m.pairwise_cell(m.rank(), peer, round.steps), at(r.send, chunk.offset + theirs.begin),
           theirs.bytes);
  }
}

template <Machine M>
void fold_slice(M& m, const Reduction& r, const Chunk& chunk, const Round& round) {
  const Slice own = slice_of(m, chunk, m.rank(), r);
  const std::size_t place = chunk.offset + own.begin;
  for (const int peer : m.other_ranks())
    m.source_array()[peer] = m.pairwise_cell(peer, m.rank(), round.steps);
  fold_in_rank_order(m, r, at(r.receive, place), at(r.send, place), own.bytes);
}

template <Machine M>
void write_answers(M& m, const Reduction& r, const Chunk& chunk, const Round& round) {
  const Slice own = slice_of(m, chunk, m.rank(), r);
  for (const int peer : m.other_ranks())
    m.copy(m.pairwise_cell(m.rank(), peer, round.steps), at(r.receive, chunk.offset + own.begin), own.bytes);
}

template <Machine M>
void take_answers(M& m, const Reduction& r, const Chunk& chunk, const Round& round) {
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    const Slice theirs = slice_of(m, chunk, peer, r);
    m.copy(at(r.receive, chunk.offset + theirs.begin), m.pairwise_cell(peer, m.rank(), round.steps),
           theirs.bytes);
  }
}

}  // namespace detail

/// In place is safe: a chunk's contributions have left the buffer before its results arrive.
template <Machine M>
void allreduce_pairwise(M& m, const Reduction& r, const PairwiseSlices& slices) {
  Meeting<M> meeting = Meeting<M>::by_counter(m);
  const auto show = [&](const Round& round) {
    const Chunk chunk = slices.chunk(round.index / 2);
    round.index % 2 == 0 ? detail::write_contributions(m, r, chunk, round)
                         : detail::write_answers(m, r, chunk, round);
    meeting.announce(round.step());
  };
  const auto read = [&](const Round& round) {
    const Chunk chunk = slices.chunk(round.index / 2);
    round.index % 2 == 0 ? detail::fold_slice(m, r, chunk, round) : detail::take_answers(m, r, chunk, round);
    return true;
  };
  in_rounds(m, rounds_in_pairwise_cells(m, 2 * slices.chunks()), show, read);
}

}  // namespace espalier::collective
