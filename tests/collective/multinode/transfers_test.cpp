// Gather(v), scatter(v) and alltoall(v) over nodes.
#include "collective/multinode/alltoall.hpp"
#include "collective/multinode/gather.hpp"
#include "collective/multinode/scatter.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/uneven.hpp"
#include "tests/collective/multinode/world.hpp"

namespace espalier::collective::multinode {
namespace {

using testing::GuardedVector;
using testing::Member;
using testing::TreePositions;

/// Memory that grows, as a communicator keeps it.
class Kept {
 public:
  std::byte* of(std::size_t bytes) {
    memory_ = std::make_unique<testing::Guarded>(bytes);
    return memory_->data();
  }

 private:
  std::unique_ptr<testing::Guarded> memory_;
};

/// Blocks shorter and longer than this meet in one call.
constexpr std::size_t long_blocks[] = {1, 400, 1 << 20};

std::vector<double> placed(const TreePositions& places, int ranks, int round) {
  std::vector<double> all(places.elements(), testing::untouched_value);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto theirs = testing::vector_of(rank, places.count(rank), round);
    std::copy(theirs.begin(), theirs.end(), all.begin() + static_cast<std::ptrdiff_t>(places.first(rank)));
  }
  return all;
}

void expect_gather(Member& me, int root, const std::vector<std::size_t>& counts, std::size_t long_block,
                   bool equal, bool in_place) {
  const TreePositions places(counts);
  const RootedBlocks call = {me.rank(), root, me.placement(), long_block, equal};
  GuardedVector<double> own(testing::vector_of(me.rank(), places.count(me.rank()), root));
  Kept kept;
  if (me.rank() != root) {
    me.on_stage([&](auto& stage) {
      gather_from_here(stage, me.all_ranks(), call, own.bytes(), own.size_bytes(),
                       [&](std::size_t bytes) { return kept.of(bytes); });
    });
    return;
  }
  GuardedVector<double> receive(std::vector<double>(places.elements(), testing::untouched_value));
  std::byte* position = receive.bytes() + places.view().offset_of(root);
  if (in_place) std::memcpy(position, own.bytes(), own.size_bytes());
  me.on_stage([&](auto& stage) {
    gather_at_root(stage, me.all_ranks(), call, in_place ? position : own.bytes(), receive.bytes(),
                   places.view(), kept.of(all_short_blocks(call, places.view())));
  });
  EXPECT_EQ(receive.values(), placed(places, me.size(), root))
      << "root " << root << ", long from " << long_block;
}

void expect_scatter(Member& me, int root, const std::vector<std::size_t>& counts, std::size_t long_block,
                    bool equal, bool in_place) {
  const TreePositions places(counts);
  const RootedBlocks call = {me.rank(), root, me.placement(), long_block, equal};
  const auto wanted = testing::vector_of(me.rank(), places.count(me.rank()), root);
  GuardedVector<double> receive(wanted.size());
  Kept kept;
  if (me.rank() != root) {
    me.on_stage([&](auto& stage) {
      scatter_to_here(stage, me.all_ranks(), call, receive.bytes(), receive.size_bytes(),
                      [&](std::size_t bytes) { return kept.of(bytes); });
    });
    EXPECT_EQ(receive.values(), wanted) << "rank " << me.rank() << ", root " << root;
    return;
  }
  GuardedVector<double> send(placed(places, me.size(), root));
  std::byte* position = send.bytes() + places.view().offset_of(root);
  me.on_stage([&](auto& stage) {
    scatter_at_root(stage, me.all_ranks(), call, send.bytes(), in_place ? position : receive.bytes(),
                    places.view(), kept.of(all_short_blocks(call, places.view())));
  });
  if (!in_place) {
    EXPECT_EQ(receive.values(), wanted) << "root " << root;
  }
  EXPECT_EQ(send.values(), placed(places, me.size(), root));
}

template <class Body>
void in_every_setting(Body body) {
  for (const testing::Setting& setting : testing::settings()) {
    testing::World world(setting);
    world.run(body);
  }
}

TEST(NodesGather, FromEveryRootEveryDistribution) {
  in_every_setting([](Member& me) {
    for (int root = 0; root < me.size(); ++root)
      for (const std::size_t long_block : long_blocks)
        for (const auto& distribution : testing::distributions(me.size(), 30))
          expect_gather(me, root, distribution.counts, long_block, false, root % 2 == 0);
  });
}

TEST(NodesGather, OfEqualBlocksNobodyIsAsked) {
  in_every_setting([](Member& me) {
    for (int root = 0; root < me.size(); ++root)
      for (const std::size_t count : {1, 49, 50, 3000})
        expect_gather(me, root, std::vector<std::size_t>(static_cast<std::size_t>(me.size()), count), 400,
                      true, root % 2 == 1);
  });
}

TEST(NodesScatter, FromEveryRootEveryDistribution) {
  in_every_setting([](Member& me) {
    for (int root = 0; root < me.size(); ++root)
      for (const std::size_t long_block : long_blocks)
        for (const auto& distribution : testing::distributions(me.size(), 30))
          expect_scatter(me, root, distribution.counts, long_block, false, root % 2 == 0);
  });
}

TEST(NodesScatter, OfEqualBlocksNobodyIsAsked) {
  in_every_setting([](Member& me) {
    for (int root = 0; root < me.size(); ++root)
      for (const std::size_t count : {1, 49, 50, 3000})
        expect_scatter(me, root, std::vector<std::size_t>(static_cast<std::size_t>(me.size()), count), 400,
                       true, root % 2 == 1);
  });
}

/// How many elements `from` has for `to`.
using CountOf = std::function<std::size_t(int from, int to)>;

void expect_alltoall(Member& me, const CountOf& count_of, std::size_t long_block, bool equal) {
  std::vector<std::size_t> out_counts, in_counts;
  for (int other = 0; other < me.size(); ++other) {
    out_counts.push_back(count_of(me.rank(), other));
    in_counts.push_back(count_of(other, me.rank()));
  }
  const TreePositions out(out_counts), in(in_counts);
  std::vector<double> sent(out.elements(), testing::untouched_value),
      wanted(in.elements(), testing::untouched_value);
  const auto fill = [&](std::vector<double>& all, const TreePositions& places, int other, int from, int to) {
    const auto block = testing::vector_of(from, places.count(other), to);
    std::copy(block.begin(), block.end(), all.begin() + static_cast<std::ptrdiff_t>(places.first(other)));
  };
  for (int other = 0; other < me.size(); ++other) {
    fill(sent, out, other, me.rank(), other);
    fill(wanted, in, other, other, me.rank());
  }
  GuardedVector<double> send(sent), receive(std::vector<double>(in.elements(), testing::untouched_value));
  Kept kept[4];
  const auto room = [&](std::size_t which, std::size_t bytes) { return kept[which].of(bytes); };
  const Blocks out_blocks = out.view(), in_blocks = in.view();
  me.on_stage([&]<class Stage>(Stage& stage) {
    using Exchange = Alltoall<Stage, Member::Peers, Blocks, Blocks, decltype(room)>;
    Exchange(
        stage, me.all_ranks(),
        {me.rank(), me.placement(), long_block, equal, send.bytes(), out_blocks, receive.bytes(), in_blocks},
        room)
        .run();
  });
  EXPECT_EQ(receive.values(), wanted)
      << "rank " << me.rank() << " of " << me.size() << ", long from " << long_block;
  EXPECT_EQ(send.values(), sent);
}

TEST(NodesAlltoall, BlocksOfOneLength) {
  in_every_setting([](Member& me) {
    for (const std::size_t count : {1, 7, 49, 50, 2000})
      expect_alltoall(me, [=](int, int) { return count; }, 400, true);
  });
}

TEST(NodesAlltoall, BlocksOfAnyLength) {
  in_every_setting([](Member& me) {
    for (const std::size_t long_block : long_blocks) {
      expect_alltoall(
          me, [](int from, int to) { return static_cast<std::size_t>((from * 5 + to * 3) % 7 * 20); },
          long_block, false);
      expect_alltoall(
          me, [](int from, int to) { return static_cast<std::size_t>(from == 1 ? 90 + to : 0); }, long_block,
          false);
      expect_alltoall(
          me, [](int from, int to) { return static_cast<std::size_t>(to == 0 ? 1 + from * 60 : 0); },
          long_block, false);
      expect_alltoall(me, [](int, int) { return std::size_t{0}; }, long_block, false);
    }
  });
}

}  // namespace
}  // namespace espalier::collective::multinode
