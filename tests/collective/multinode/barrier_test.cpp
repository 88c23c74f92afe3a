#include "collective/multinode/barrier.hpp"

#include <atomic>

#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

void expect_nobody_leaves_early(plan::Algorithm algorithm) {
  for (const testing::Setting& setting : testing::settings()) {
    constexpr int rounds = 30;
    std::array<std::atomic<int>, rounds> came{};
    testing::World world(setting);
    world.run([&](testing::Member& me) {
      for (int round = 0; round < rounds; ++round) {
        for (int i = 0; me.rank() == round % me.size() && i < 200; ++i) std::this_thread::yield();
        auto& here = came[static_cast<std::size_t>(round)];
        ++here;
        const collective::TreePosition position = me.roles("kary:2", 0).position;
        me.on_stage([&](auto& stage) { barrier(stage, me.counterparts(0), position, algorithm); });
        EXPECT_EQ(here.load(), me.size()) << setting.name << ": rank " << me.rank() << " left too early";
      }
    });
  }
}

TEST(NodesBarrier, NobodyLeavesBeforeAllHaveComeByDissemination) {
  expect_nobody_leaves_early(plan::Algorithm::dissemination);
}
TEST(NodesBarrier, NobodyLeavesBeforeAllHaveComeAlongTheTree) {
  expect_nobody_leaves_early(plan::Algorithm::tree);
}

}  // namespace
}  // namespace espalier::collective::multinode
