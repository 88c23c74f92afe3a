// Scan and exscan over nodes: of neighbouring ranks, and of ranks in any order.
#include "collective/multinode/scan.hpp"

#include "collective/multinode/scan_any_order.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/same_bits.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::Guarded;
using testing::GuardedVector;
using testing::Member;

struct Call {
  reduce::Type type;
  Prefix prefix;
  bool in_place;
};

bool needs_consecutive_ranks(plan::Algorithm algorithm) {
  return plan::requirement_of(plan::Scope::network, Collective::scan, algorithm) ==
         plan::Requirement::consecutive_ranks;
}

void call(Member& me, const Reduction& r, Prefix prefix, const plan::NetworkPlan& plan) {
  const std::size_t longest = Segments(r.bytes, plan.segment, r.operation.extent).longest();
  if (needs_consecutive_ranks(plan.algorithm)) {
    Guarded total(segments_under_way * longest), below(segments_under_way * longest),
        scratch(segments_under_way * longest);
    const ScanRoom room = {total.data(), below.data(), scratch.data()};
    me.on_stage([&](auto& stage) { scan(stage, me.last_ranks(), me.node() == 0, r, prefix, room, plan); });
  } else {
    const AnyOrderRoom sizes = any_order_room(me.placement(), longest, r.operation.extent, plan.algorithm);
    Guarded room(me.local_rank() == 0 ? segments_under_way * (sizes.vectors + sizes.scratch) : 0);
    me.on_stage([&](auto& stage) {
      scan_any_order(stage, me.counterparts(0), me.rank(), me.placement(), r, prefix, room.data(), plan);
    });
  }
}

/// The result; nothing where exscan has none, and must have left the buffer alone.
template <class T>
std::vector<T> run(Member& me, const std::vector<T>& values, const Call& how, const plan::NetworkPlan& plan) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, how.type);
  GuardedVector<T> send(values), result(values.size());
  if (how.in_place) result.assign(values);
  const Reduction reduction = {how.in_place ? result.bytes() : send.bytes(), result.bytes(),
                               send.size_bytes(), sum};
  call(me, reduction, how.prefix, plan);
  EXPECT_EQ(send.values(), values) << "rank " << me.rank() << " lost what it sent";
  if (how.prefix == Prefix::inclusive || me.rank() > 0) return result.values();
  if (how.in_place) {
    EXPECT_EQ(result.values(), values) << "exscan wrote to rank 0";
  } else {
    EXPECT_TRUE(result.is_untouched()) << "exscan wrote to rank 0";
  }
  return {};
}

template <class Check>
void on_all_scans(const testing::Setting& setting, Check check) {
  testing::World world(setting);
  world.run([&](Member& me) {
    plan::NetworkPlan plan;
    plan.segment = testing::segment_bytes;
    for (const auto algorithm : {plan::Algorithm::recursive_doubling, plan::Algorithm::chain,
                                 plan::Algorithm::gather_all, plan::Algorithm::transpose}) {
      plan.algorithm = algorithm;
      if (needs_consecutive_ranks(algorithm) && !me.placement().is_consecutive()) continue;
      for (const std::size_t count : testing::segment_counts())
        for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive}) check(me, count, prefix, plan);
    }
  });
}

std::string describe(const testing::Setting& setting, Member& me, std::size_t count, Prefix prefix,
                     const plan::NetworkPlan& plan) {
  return std::string(setting.name) + ", rank " + std::to_string(me.rank()) + ", " + std::to_string(count) +
         " elements, " + (prefix == Prefix::inclusive ? "scan" : "exscan") + " by " +
         std::string(plan::to_string(plan.algorithm));
}

TEST(NodesScan, IsRight) {
  for (const testing::Setting& setting : testing::settings())
    on_all_scans(setting, [&](Member& me, std::size_t count, Prefix prefix, const plan::NetworkPlan& plan) {
      const int vectors = me.rank() + (prefix == Prefix::inclusive ? 1 : 0);
      for (const bool in_place : {false, true}) {
        const auto got =
            run(me, testing::vector_of(me.rank(), count, 9), {reduce::Type::float64, prefix, in_place}, plan);
        if (vectors > 0) {
          EXPECT_EQ(got, testing::sum_of(vectors, count, 9)) << describe(setting, me, count, prefix, plan);
        }
      }
    });
}

TEST(NodesScan, GivesTheSameBitsUnderEverySeed) {
  for (testing::Setting setting : testing::settings()) {
    testing::SameBits bits;
    for (const std::uint64_t seed : {21, 22}) {
      setting.seed = seed;
      on_all_scans(setting, [&](Member& me, std::size_t count, Prefix prefix, const plan::NetworkPlan& plan) {
        const auto got =
            run(me, testing::floats_of(me.rank(), count), {reduce::Type::float32, prefix, false}, plan);
        bits.expect(describe(setting, me, count, prefix, plan), got);
        const int last = me.rank() - (prefix == Prefix::inclusive ? 0 : 1);
        const bool in_rank_order = !needs_consecutive_ranks(plan.algorithm);
        if (in_rank_order && last >= 0) {
          EXPECT_TRUE(testing::same_bits(got, testing::sum_in_order(0, last, count)))
              << describe(setting, me, count, prefix, plan);
        }
      });
    }
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
