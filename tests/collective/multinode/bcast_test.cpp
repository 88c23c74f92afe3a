#include "collective/multinode/bcast.hpp"

#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::Member;

void expect_bcast(Member& me, const char* tree, int root, std::size_t count, const plan::NetworkPlan& plan) {
  const auto wanted = testing::vector_of(root, count, static_cast<int>(count));
  testing::GuardedVector<double> data(count);
  if (me.rank() == root) data.assign(wanted);
  const Member::Roles roles = me.roles(tree, root);
  me.on_stage([&](auto& stage) { bcast(stage, me.rooted(roles), data.bytes(), data.size_bytes(), plan); });
  EXPECT_EQ(data.values(), wanted) << "rank " << me.rank() << " of " << me.size() << ", root " << root << ", "
                                   << count << " elements, " << plan::to_string(plan.algorithm);
}

TEST(NodesBcast, FromEveryRoot) {
  for (const testing::Setting& setting : testing::settings()) {
    testing::World world(setting);
    world.run([&](Member& me) {
      plan::NetworkPlan plan;
      plan.segment = testing::segment_bytes;
      for (const plan::Algorithm algorithm : {plan::Algorithm::tree, plan::Algorithm::scatter_allgather}) {
        plan.algorithm = algorithm;
        for (const std::size_t count : testing::segment_counts())
          for (int root = 0; root < me.size(); ++root)
            expect_bcast(me, root % 2 ? "kary:2" : "chain", root, count, plan);
      }
    });
  }
}

TEST(NodesBcast, SegmentsLongerThanANodesRing) {
  for (const testing::Setting& setting : testing::settings()) {
    testing::World world(setting);
    world.run([&](Member& me) {
      plan::NetworkPlan plan;
      plan.algorithm = plan::Algorithm::tree;
      plan.segment = 50001;
      for (int root = 0; root < me.size(); root += 2) expect_bcast(me, "knomial:2", root, 20000, plan);
    });
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
