// The collectives that move blocks: from every rank to every rank, over sizes around the borders of lines,
// slots and rings.
#include <cstring>
#include <mutex>

#include "collective/node/all_to_all/allgather.hpp"
#include "collective/node/all_to_all/alltoall.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

using plan::Algorithm;
using testing::WatchedMachine;
using namespace testing;

TEST(Blocks, BelowARankAreCountedAlikeWhateverSaysWhereTheyLie) {
  const std::size_t bytes[] = {3, 0, 8, 5}, offsets[] = {20, 7, 0, 8}, edges[] = {0, 3, 3, 11, 16};
  for (int rank = 0; rank <= 4; ++rank) {
    EXPECT_EQ(bytes_below(Blocks{bytes, offsets}, rank), edges[rank]);
    EXPECT_EQ(bytes_below(PackedBlocks{edges}, rank), edges[rank]);
    EXPECT_EQ(bytes_below(EqualBlocks{6}, rank), std::size_t(6 * rank));
  }
}

TEST(Blocks, TheMeanIsRoundedUp) {
  for (const std::size_t ranks : {1, 2, 3, 4, 7, 16})
    for (std::size_t total = 0; total < 3 * ranks + 2; ++total) {
      const std::size_t mean = mean_block(total, ranks);
      EXPECT_GE(mean * ranks, total);
      EXPECT_LT(mean * ranks, total + ranks);
    }
}

class MovedBlocks : public ::testing::TestWithParam<std::tuple<int, Algorithm>> {
 protected:
  int n() const { return std::get<0>(GetParam()); }

  template <class Body>
  void everywhere(Body body) {
    const Algorithm algorithm = std::get<1>(GetParam());
    if (algorithm == Algorithm::single_copy)
      testing::everywhere_by_single_copy(n(), body);
    else
      testing::everywhere(n(), algorithm, body);
  }
};

TEST_P(MovedBlocks, Allgather) {
  everywhere([&](auto& m, const Plan& plan) {
    for (int round = 0; round < 3; ++round)
      for (const std::size_t bytes : sizes_of_blocks(plan)) {
        const bool in_place = round == 1;
        const EqualBlocks blocks{bytes};
        Bytes wanted, got(bytes * static_cast<std::size_t>(n()), untouched);
        for (int r = 0; r < n(); ++r) append(wanted, block_of(r, 0, bytes, round));
        const Bytes own = block_of(m.rank(), 0, bytes, round);
        std::byte* place = got.data() + blocks.offset_of(m.rank());
        if (in_place) std::copy(own.begin(), own.end(), place);
        allgather(m, in_place ? place : own.data(), got.data(), blocks, plan);
        expect_same(got, wanted, "allgather", m, bytes);
      }
  });
}

// Blocks of unequal sizes, some empty, in any order and with gaps between them.
TEST_P(MovedBlocks, Allgatherv) {
  everywhere([&](auto& m, const Plan& plan) {
    for (int round = 0; round < 12; ++round) {
      const Spread spread(n(), round, [&](int rank) { return unequal(rank, round); });
      Bytes wanted(spread.end, untouched), got = wanted;
      for (int r = 0; r < n(); ++r)
        spread.put(wanted, r, block_of(r, 0, spread.bytes[std::size_t(r)], round));
      const Bytes own = block_of(m.rank(), 0, spread.bytes[std::size_t(m.rank())], round);
      const bool in_place = round % 3 == 1;
      if (in_place) spread.put(got, m.rank(), own);
      const Blocks blocks = spread.blocks();
      if (largest_of(blocks, n()) == 0) continue;
      allgather(m, in_place ? got.data() + blocks.offset_of(m.rank()) : own.data(), got.data(), blocks, plan);
      expect_same(got, wanted, "allgatherv", m, spread.end);
    }
  });
}

TEST_P(MovedBlocks, Alltoall) {
  everywhere([&](auto& m, const Plan& plan) {
    for (int round = 0; round < 3; ++round)
      for (const std::size_t bytes : sizes_of_blocks(plan)) {
        Bytes send, wanted;
        for (int r = 0; r < n(); ++r) {
          append(send, block_of(m.rank(), r, bytes, round));
          append(wanted, block_of(r, m.rank(), bytes, round));
        }
        const bool in_place = round == 1;
        Bytes got = in_place ? send : Bytes(send.size(), untouched);
        alltoall(m, in_place ? got.data() : send.data(), got.data(), bytes, plan);
        expect_same(got, wanted, "alltoall", m, bytes);
      }
  });
}

// Blocks of unequal sizes of which a rank knows its own alone; after a call with nothing, and with another
// pattern in every round, so that what is left of one call would show in the next.
TEST_P(MovedBlocks, Alltoallv) {
  everywhere([&](auto& m, const Plan& plan) {
    for (int round = 0; round < 12; ++round) {
      const bool in_place = round % 3 == 1;  // what goes there and comes from there must be of one size
      const auto bytes_between = [&](int from, int to) {
        return in_place ? unequal(from * to, round + from + to) : unequal(from * n() + to, round);
      };
      const Spread out(n(), round, [&](int to) { return bytes_between(m.rank(), to); });
      const Spread in(n(), round, [&](int from) { return bytes_between(from, m.rank()); });
      Bytes send(out.end, untouched), wanted(in.end, untouched), got = wanted;
      for (int r = 0; r < n(); ++r) {
        out.put(send, r, block_of(m.rank(), r, out.bytes[std::size_t(r)], round));
        in.put(wanted, r, block_of(r, m.rank(), in.bytes[std::size_t(r)], round));
      }
      if (in_place) {
        got = send;
        alltoallv_in_place(m, got.data(), in.blocks(), plan);
      } else {
        alltoallv(m, send.data(), out.blocks(), got.data(), in.blocks(), plan);
      }
      expect_same(got, wanted, "alltoallv", m, in.end);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, MovedBlocks,
                         ::testing::Combine(::testing::Values(2, 3, 5, 8),
                                            ::testing::Values(Algorithm::exchange, Algorithm::central,
                                                              Algorithm::single_copy)),
                         name_of_case<MovedBlocks>);

}  // namespace
}  // namespace espalier::collective
