// What every allgather has to do, whatever the algorithm: one call after the other, over sizes around the borders
// of lines, slots and rings.
#pragma once

#include "tests/collective/blocks.hpp"

namespace espalier::testing {

/// `call(own, receive, blocks)`: the allgather under test, on this rank.
template <class Call>
void check_allgathers(testing::WatchedMachine& m, const plan::Plan& plan, const Call& call) {
  for (int round = 0; round < 3; ++round)
    for (const std::size_t bytes : sizes_of_blocks(plan)) {
      const bool in_place = round == 1;
      const collective::EqualBlocks blocks{bytes};
      Bytes wanted, got(bytes * static_cast<std::size_t>(m.size()), untouched);
      for (int r = 0; r < m.size(); ++r) append(wanted, block_of(r, 0, bytes, round));
      const Bytes own = block_of(m.rank(), 0, bytes, round);
      std::byte* place = got.data() + blocks.offset_of(m.rank());
      if (in_place) std::copy(own.begin(), own.end(), place);
      call(in_place ? place : own.data(), got.data(), blocks);
      expect_same(got, wanted, "allgather", m, bytes);
    }
}

/// Blocks of unequal sizes, some empty, in any order and with gaps between them.
template <class Call>
void check_allgathervs(testing::WatchedMachine& m, const Call& call) {
  for (int round = 0; round < 12; ++round) {
    const Spread spread(m.size(), round, [&](int rank) { return unequal(rank, round); });
    Bytes wanted(spread.end, untouched), got = wanted;
    for (int r = 0; r < m.size(); ++r)
      spread.put(wanted, r, block_of(r, 0, spread.bytes[std::size_t(r)], round));
    const Bytes own = block_of(m.rank(), 0, spread.bytes[std::size_t(m.rank())], round);
    const bool in_place = round % 3 == 1;
    if (in_place) spread.put(got, m.rank(), own);
    const collective::Blocks blocks = spread.blocks();
    call(in_place ? got.data() + blocks.offset_of(m.rank()) : own.data(), got.data(), blocks);
    expect_same(got, wanted, "allgatherv", m, spread.end);
  }
}

}  // namespace espalier::testing
