#include "collective/nodes/barrier.hpp"

#include <atomic>

#include "tests/collective/nodes/world.hpp"

namespace espalier::collective::nodes {
namespace {

TEST(NodesBarrier, NobodyLeavesBeforeAllHaveCome) {
  for (const testing::Setting& setting : testing::settings()) {
    constexpr int rounds = 30;
    std::array<std::atomic<int>, rounds> came{};
    testing::World world(setting);
    world.run([&](testing::Member& me) {
      for (int round = 0; round < rounds; ++round) {
        for (int i = 0; me.rank() == round % me.size() && i < 200; ++i) std::this_thread::yield();
        auto& here = came[static_cast<std::size_t>(round)];
        ++here;
        me.on_stage([&](auto& stage) { barrier(stage, me.counterparts(0)); });
        EXPECT_EQ(here.load(), me.size()) << setting.name << ": rank " << me.rank() << " left too early";
      }
    });
  }
}

}  // namespace
}  // namespace espalier::collective::nodes
