// On trees whose subtrees hold neighbours and such whose do not, with lines that children read and such that
// parents write.
#include "collective/node/all_to_all/allgather_tree.hpp"

#include <tuple>

#include "tests/collective/allgathers.hpp"
#include "tests/collective/trees.hpp"

namespace espalier::collective {
namespace {

using testing::WatchedMachine;
using namespace testing;

class AllgatherTree : public ::testing::TestWithParam<std::tuple<int, const char*>> {
 protected:
  /// body(machine, plan, call): see allgathers.hpp.
  template <class Body>
  void everywhere(Body body) {
    const auto [n, shape] = GetParam();
    const GatheringTrees trees(n, shape, "kary:3");
    testing::everywhere(n, plan::Algorithm::tree, [&](WatchedMachine& m, Plan plan) {
      for (const bool from_parent : {true, false}) {
        if (!from_parent && plan.chunk != 4096) continue;  // says nothing of chunks
        plan.read_from_parent = from_parent;
        body(m, plan, [&](const void* own, void* receive, const auto& blocks) {
          allgather_tree(m, trees.of(m.rank()), own, receive, blocks, plan);
        });
      }
    });
  }
};

TEST_P(AllgatherTree, EqualBlocks) {
  everywhere([](WatchedMachine& m, const Plan& plan, const auto& call) { check_allgathers(m, plan, call); });
}
TEST_P(AllgatherTree, UnequalBlocks) {
  everywhere([](WatchedMachine& m, const Plan&, const auto& call) { check_allgathervs(m, call); });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AllgatherTree,
                         ::testing::Combine(::testing::Values(2, 3, 5, 9),
                                            ::testing::Values("flat", "kary:2 skew=right", "chain")),
                         [](const auto& param) {
                           const std::string shape = std::get<1>(param.param);
                           return shape.substr(0, shape.find(':')) + "_" +
                                  std::to_string(std::get<0>(param.param));
                         });

}  // namespace
}  // namespace espalier::collective
