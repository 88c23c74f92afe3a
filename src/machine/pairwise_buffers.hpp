// Cells that belong to a pair of ranks, in which each writes where it has read before.
#pragma once

#include "machine/placed_lines.hpp"

namespace espalier::machine {

/// Models HasPairwiseBuffers.
template <class Platform>
class PairwiseBuffers : public PlacedLines<Platform> {
  using Base = PlacedLines<Platform>;

 public:
  using Base::Base;

  std::size_t pairwise_bytes() const { return pairwise_bytes_; }
  int pairwise_rounds() const { return pairwise_rounds_; }
  /// `rounds`: how many uses of an open range both ranks expect.
  Steps with_pairwise_slots(Steps steps, std::size_t rounds = 1) {
    return in_pairwise_rounds(steps, Buffers::pairwise_slots, rounds);
  }
  Steps with_pairwise_cells(Steps steps) { return in_pairwise_rounds(steps, Buffers::pairwise_cells, 1); }

  std::byte* pairwise_cell(int writer, int reader, const Steps& steps) {
    const PairwiseRound round = pairwise_round(steps);
    const int owner = round.by_reader ? reader : writer, other = round.by_reader ? writer : reader;
    return home(owner).cells +
           Layout::index_in_area(owner, other, pairwise_rounds_, round.which) * pairwise_bytes_;
  }

 protected:
  using Base::home;
  using Base::layout_;

  /// Which cells a round lies in.
  struct PairwiseRound {
    std::size_t number;  ///< of those that lie there, either way
    int which;
    bool by_reader;  ///< in the reader's, else in the writer's
  };
  /// So many rounds lie there at a time; then the ranks change places.
  PairwiseRound pairwise_round(const Steps& steps) const {
    const int rounds = pairwise_rounds_;  // 1 or 2
    const auto number = static_cast<std::size_t>(steps.round) & static_cast<std::size_t>(2 * rounds - 1);
    return {number, static_cast<int>(number) & (rounds - 1), number >= static_cast<std::size_t>(rounds)};
  }

 private:
  Steps in_pairwise_rounds(Steps steps, Buffers buffers, std::size_t rounds) {
    steps.buffers = buffers;
    steps.round = rounds_so_far_;
    rounds_so_far_ += rounds;
    return steps;
  }

  std::size_t pairwise_bytes_ = layout_.pairwise_bytes();
  int pairwise_rounds_ = layout_.pairwise_rounds();
  Step rounds_so_far_ = 0;
};

}  // namespace espalier::machine
