#include "collective/node/all_to_all/allgather_grouped.hpp"

#include "tests/collective/allgathers.hpp"

namespace espalier::collective {
namespace {

using testing::WatchedMachine;
using namespace testing;

// One group, full groups, and a last one that is smaller: of one rank with 5 and 17.
class AllgatherGrouped : public ::testing::TestWithParam<int> {
 protected:
  template <class Body>
  void everywhere(Body body) {
    testing::everywhere(GetParam(), plan::Algorithm::grouped, [&](WatchedMachine& m, const Plan& plan) {
      body(m, plan, [&](const void* own, void* receive, const auto& blocks) {
        allgather_grouped(m, own, receive, blocks, plan);
      });
    });
  }
};

TEST_P(AllgatherGrouped, EqualBlocks) {
  everywhere([](WatchedMachine& m, const Plan& plan, const auto& call) { check_allgathers(m, plan, call); });
}
TEST_P(AllgatherGrouped, UnequalBlocks) {
  everywhere([](WatchedMachine& m, const Plan&, const auto& call) { check_allgathervs(m, call); });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AllgatherGrouped, ::testing::Values(2, 3, 4, 5, 11, 17));

}  // namespace
}  // namespace espalier::collective
