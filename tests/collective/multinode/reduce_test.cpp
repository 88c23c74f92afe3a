#include "collective/multinode/reduce.hpp"

#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/same_bits.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::Guarded;
using testing::GuardedVector;
using testing::Member;

/// The result at the root, nothing elsewhere.
template <class T>
std::vector<T> run(Member& me, const char* tree, int root, const std::vector<T>& values, reduce::Type type,
                   bool in_place, const plan::NetworkPlan& plan) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, type);
  const bool is_root = me.rank() == root;
  GuardedVector<T> send(values), result(is_root ? values.size() : 0);
  if (in_place && is_root) result.assign(values);
  const Member::Roles roles = me.roles(tree, root);
  const bool leads = me.local_rank() == roles.leader;
  const std::size_t room =
      segments_under_way * Segments(send.size_bytes(), plan.segment, sizeof(T)).longest();
  Guarded partial(leads ? room : 0),
      scratch(leads ? room * std::max<std::size_t>(1, roles.position.children.size()) : 0);
  const Reduction reduction = {in_place && is_root ? result.bytes() : send.bytes(),
                               is_root ? result.bytes() : nullptr, send.size_bytes(), sum};
  me.on_stage([&](auto& stage) {
    reduce(stage, me.rooted(roles), reduction,
           leads ? ReduceRoom{partial.data(), scratch.data()} : ReduceRoom{}, plan);
  });
  EXPECT_EQ(send.values(), values) << "rank " << me.rank() << " lost what it sent";
  return result.values();
}

template <class Check>
void on_all_reduces(const testing::Setting& setting, Check check) {
  testing::World world(setting);
  world.run([&](Member& me) {
    plan::NetworkPlan plan;
    plan.segment = testing::segment_bytes;
    for (const plan::Algorithm algorithm : {plan::Algorithm::tree, plan::Algorithm::rabenseifner}) {
      plan.algorithm = algorithm;
      for (const std::size_t count : testing::segment_counts())
        for (int root = 0; root < me.size(); ++root) check(me, root, count, plan);
    }
  });
}

TEST(NodesReduce, ToEveryRoot) {
  for (const testing::Setting& setting : testing::settings())
    on_all_reduces(setting, [&](Member& me, int root, std::size_t count, const plan::NetworkPlan& plan) {
      const bool in_place = (count + static_cast<std::size_t>(root)) % 2 == 0;
      const auto got = run(me, root % 2 ? "kary:2" : "knomial:2", root,
                           testing::vector_of(me.rank(), count, root), reduce::Type::float64, in_place, plan);
      if (me.rank() != root) return;
      EXPECT_EQ(got, testing::sum_of(me.size(), count, root))
          << setting.name << ", root " << root << ", " << count << " elements, "
          << plan::to_string(plan.algorithm);
    });
}

TEST(NodesReduce, GivesTheSameBitsUnderEverySeed) {
  for (testing::Setting setting : testing::settings()) {
    testing::SameBits bits;
    for (const std::uint64_t seed : {3, 4}) {
      setting.seed = seed;
      on_all_reduces(setting, [&](Member& me, int root, std::size_t count, const plan::NetworkPlan& plan) {
        if (root % 2 == 1) return;
        const auto got =
            run(me, "flat", root, testing::floats_of(me.rank(), count), reduce::Type::float32, false, plan);
        if (me.rank() == root)
          bits.expect(std::string(setting.name) + ", root " + std::to_string(root) + ", " +
                          std::to_string(count) + " elements, " +
                          std::string(plan::to_string(plan.algorithm)),
                      got);
      });
    }
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
