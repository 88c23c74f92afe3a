#include "collective/node/all_to_all/alltoall_grouped.hpp"

#include "tests/collective/blocks.hpp"

namespace espalier::collective {
namespace {

using testing::WatchedMachine;
using namespace testing;

// One group, full groups, and a last one that is smaller: of one rank with 5 and 17, of three with 11.
class AlltoallGrouped : public ::testing::TestWithParam<int> {};

TEST_P(AlltoallGrouped, MovesEveryBlock) {
  everywhere(GetParam(), plan::Algorithm::grouped, [](WatchedMachine& m, const Plan& plan) {
    ASSERT_TRUE(GroupedExchange<WatchedMachine>::fits(m, 1));
    for (int round = 0; round < 3; ++round)
      for (const std::size_t bytes : sizes_of_blocks(plan)) {
        if (bytes > 9000) continue;  // takes long and shows nothing
        Bytes send, wanted;
        for (int r = 0; r < m.size(); ++r) {
          append(send, block_of(m.rank(), r, bytes, round));
          append(wanted, block_of(r, m.rank(), bytes, round));
        }
        const bool in_place = round == 1;
        Bytes got = in_place ? send : Bytes(send.size(), untouched);
        alltoall_grouped(m, in_place ? got.data() : send.data(), got.data(), bytes, plan);
        expect_same(got, wanted, "alltoall", m, bytes);
      }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AlltoallGrouped, ::testing::Values(2, 3, 4, 5, 11, 17));

}  // namespace
}  // namespace espalier::collective
