#include "collective/multinode/reduce_scatter.hpp"

#include "tests/collective/floats.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/same_bits.hpp"
#include "tests/collective/multinode/uneven.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::Guarded;
using testing::GuardedVector;
using testing::Member;

/// This rank's block of the sum of all ranks' vectors. In place the block goes to the vector's start.
template <class T>
std::vector<T> run(Member& me, const std::vector<T>& values, const std::vector<std::size_t>& counts,
                   reduce::Type type, bool in_place) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, type);
  std::vector<std::size_t> edges = {0};
  for (const std::size_t count : counts) edges.push_back(edges.back() + count * sizeof(T));
  const std::size_t own = counts[static_cast<std::size_t>(me.rank())], bytes = edges.back();
  GuardedVector<T> send(values), receive(own);
  const ReduceScatter call = {me.rank(),           me.placement(),
                              send.bytes(),        in_place ? send.bytes() : receive.bytes(),
                              PackedBlocks{edges}, sum};
  Guarded packed(bytes), share(share_bytes(call, Counterparts(me.placement(), me.rank()), me.rank())),
      coming(own * sizeof(T) * static_cast<std::size_t>(me.placement().nodes()));
  const auto fold = [&](std::byte* from, const BlocksOfSome& shares, std::byte* mine) {
    if (!me.machine()) {
      std::memcpy(mine, from, bytes);
      return;
    }
    me.on_stage([&]<class Stage>(Stage& stage) {
      if constexpr (SplittingStage<Stage>) stage.reduce_scatter(from, mine, shares.view(), bytes, sum);
    });
  };
  reduce_scatter(me.all_ranks(), call, {packed.data(), share.data(), coming.data()}, fold);
  std::vector<T> result = in_place ? send.values() : receive.values();
  result.resize(own);
  return result;
}

/// Nodes of several ranks need memory in common.
std::vector<testing::Setting> possible() {
  std::vector<testing::Setting> all;
  for (const testing::Setting& setting : testing::settings())
    if (setting.within == testing::Within::shared_memory) all.push_back(setting);
  return all;
}

template <class T>
std::vector<T> block_of(const std::vector<T>& vector, const std::vector<std::size_t>& counts, int rank) {
  std::size_t first = 0;
  for (int r = 0; r < rank; ++r) first += counts[static_cast<std::size_t>(r)];
  const auto begin = vector.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(counts[static_cast<std::size_t>(rank)])};
}

std::size_t sum_of_counts(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

TEST(NodesReduceScatter, EveryDistributionEveryPlacement) {
  for (const testing::Setting& setting : possible()) {
    testing::World world(setting);
    world.run([&](Member& me) {
      for (const std::size_t mean : {1, 9, 500})
        for (const auto& [name, counts] : testing::distributions(me.size(), mean)) {
          const std::size_t all = sum_of_counts(counts);
          EXPECT_EQ(run(me, testing::vector_of(me.rank(), all, 2), counts, reduce::Type::float64, mean == 9),
                    block_of(testing::sum_of(me.size(), all, 2), counts, me.rank()))
              << setting.name << ", " << name << ", rank " << me.rank();
        }
    });
  }
}

TEST(NodesReduceScatter, GivesTheSameBitsUnderEverySeed) {
  for (testing::Setting setting : possible()) {
    testing::SameBits bits;
    for (const std::uint64_t seed : {3, 4, 5}) {
      setting.seed = seed;
      testing::World world(setting);
      world.run([&](Member& me) {
        const auto all = testing::distributions(me.size(), 40);
        for (const auto& [name, counts] : all)
          bits.expect(name + ", rank " + std::to_string(me.rank()),
                      run(me, testing::floats_of(me.rank(), sum_of_counts(counts)), counts,
                          reduce::Type::float32, false));
      });
    }
  }
}

TEST(Counterparts, EveryRankIsSpokenToOnceByEachNode) {
  for (const auto& node_of : {std::vector<int>{0, 0, 0, 1, 2, 2, 2}, std::vector<int>{0, 1, 0, 1, 1},
                              std::vector<int>{0, 1, 2}, std::vector<int>{0, 0}}) {
    const Placement placement = place_by(node_of);
    for (int to = 0; to < placement.ranks(); ++to)
      for (int from = 0; from < placement.ranks(); ++from) {
        const Counterparts who(placement, from);
        const std::vector<int> audience = who.audience(from);
        const bool speaks = std::find(audience.begin(), audience.end(), to) != audience.end();
        EXPECT_EQ(speaks, who.node_of(to) != who.node() && who.speaker(who.node(), to) == from);
      }
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
