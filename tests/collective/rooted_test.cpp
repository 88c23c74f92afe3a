// Gather(v) and scatter(v) from every root, over sizes around the borders of lines, slots and rings.
#include <atomic>

#include "collective/node/rooted/gather.hpp"
#include "collective/node/rooted/gatherv.hpp"
#include "collective/node/rooted/scatter.hpp"
#include "collective/node/rooted/scatterv.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

using plan::Algorithm;
using testing::WatchedMachine;
using namespace testing;

class Rooted : public ::testing::TestWithParam<int> {
 protected:
  int n() const { return GetParam(); }
  std::size_t ranks() const { return static_cast<std::size_t>(n()); }

  template <class Body>
  void everywhere(Body body) {
    testing::everywhere(n(), Algorithm::direct, body);
  }
  template <class Body>
  void everywhere_with_lent_blocks(Body body) {
    everywhere(body);
    testing::everywhere_by_single_copy(n(), body);
  }
};

TEST_P(Rooted, Gather) {
  everywhere([&](WatchedMachine& m, const Plan& plan) {
    for (const std::size_t bytes : sizes_of_blocks(plan))
      for (int root = 0; root < n(); ++root) {
        const EqualBlocks blocks{bytes};
        Bytes wanted, got(bytes * ranks(), untouched);
        for (int r = 0; r < n(); ++r) append(wanted, block_of(r, root, bytes, root));
        if (m.rank() != root) wanted = got;
        const Bytes own = block_of(m.rank(), root, bytes, root);
        std::byte* place = got.data() + blocks.offset_of(root);
        const bool in_place = root % 2 == 1 && m.rank() == root;
        if (in_place) std::copy(own.begin(), own.end(), place);
        gather(m, root, in_place ? place : own.data(), got.data(), bytes, plan);
        expect_same(got, wanted, "gather", m, bytes);
      }
  });
}

TEST_P(Rooted, Scatter) {
  everywhere([&](WatchedMachine& m, const Plan& plan) {
    for (const std::size_t bytes : sizes_of_blocks(plan))
      for (int root = 0; root < n(); ++root) {
        Bytes send, wanted = block_of(root, m.rank(), bytes, root), got(bytes, untouched);
        for (int r = 0; r < n() && m.rank() == root; ++r) append(send, block_of(root, r, bytes, root));
        if (root % 2 == 1 && m.rank() == root) {  // in place
          const Bytes before = send;
          scatter(m, root, send.data(), send.data() + bytes * static_cast<std::size_t>(root), bytes, plan);
          expect_same(send, before, "scatter in place", m, bytes);
        } else {
          scatter(m, root, send.data(), got.data(), bytes, plan);
          expect_same(got, wanted, "scatter", m, bytes);
        }
      }
  });
}

TEST_P(Rooted, Gatherv) {
  everywhere_with_lent_blocks([&](auto& m, const Plan& plan) {
    for (int round = 0; round < 12; ++round) {
      const int root = round % n();
      const Spread spread(n(), round, [&](int rank) { return unequal(rank, round); });
      const std::size_t bytes = spread.bytes[static_cast<std::size_t>(m.rank())];
      const Bytes own = block_of(m.rank(), root, bytes, round);
      if (m.rank() != root) {
        send_gatherv(m, root, own.data(), bytes, plan);
        continue;
      }
      Bytes wanted(spread.end, untouched), got = wanted;
      for (int r = 0; r < n(); ++r)
        spread.put(wanted, r, block_of(r, root, spread.bytes[static_cast<std::size_t>(r)], round));
      const bool in_place = round % 3 == 1;
      if (in_place) spread.put(got, root, own);
      receive_gatherv(m, in_place ? got.data() + spread.offsets[static_cast<std::size_t>(root)] : own.data(),
                      got.data(), spread.blocks(), plan);
      expect_same(got, wanted, "gatherv", m, spread.end);
    }
  });
}

TEST_P(Rooted, Scatterv) {
  everywhere_with_lent_blocks([&](auto& m, const Plan& plan) {
    for (int round = 0; round < 12; ++round) {
      const int root = round % n();
      const Spread spread(n(), round, [&](int rank) { return unequal(rank, round); });
      const std::size_t bytes = spread.bytes[static_cast<std::size_t>(m.rank())];
      const Bytes wanted = block_of(root, m.rank(), bytes, round);
      Bytes got(bytes, untouched);
      if (m.rank() != root) {
        receive_scatterv(m, root, got.data(), bytes, plan);
        expect_same(got, wanted, "scatterv", m, bytes);
        continue;
      }
      Bytes send(spread.end, untouched);
      for (int r = 0; r < n(); ++r)
        spread.put(send, r, block_of(root, r, spread.bytes[static_cast<std::size_t>(r)], round));
      const Bytes before = send;
      const bool in_place = round % 3 == 1;
      send_scatterv(m, send.data(),
                    in_place ? send.data() + spread.offsets[static_cast<std::size_t>(root)] : got.data(),
                    spread.blocks(), plan);
      expect_same(send, before, "scatterv's send buffer", m, spread.end);
      if (!in_place) expect_same(got, wanted, "scatterv", m, bytes);
    }
  });
}

// No rank waits for a root that does not come, as long as what it brings fits its slots.
TEST_P(Rooted, GatherDoesNotWaitForTheRoot) {
  Ranks ranks_of_test(n());
  std::atomic<int> gone{0};
  ranks_of_test.run([&](WatchedMachine& m) {
    Plan plan;
    plan.algorithm = Algorithm::direct;
    plan.chunk = 4096;
    const Bytes own = block_of(m.rank(), 0, 1000, 0);
    Bytes got(1000 * ranks());
    std::vector<std::size_t> bytes(ranks(), 1000), offsets(ranks());
    for (std::size_t r = 0; r < ranks(); ++r) offsets[r] = 1000 * r;
    if (m.rank() == 0)
      while (gone.load() < n() - 1) std::this_thread::yield();
    for (int i = 0; i < 3; ++i) {
      gather(m, 0, own.data(), got.data(), 1000, plan);
      if (m.rank() == 0)
        receive_gatherv(m, own.data(), got.data(), Blocks{bytes, offsets}, plan);
      else
        send_gatherv(m, 0, own.data(), 1000, plan);
    }
    gone.fetch_add(1);
  });
  EXPECT_EQ(gone.load(), n());
}

INSTANTIATE_TEST_SUITE_P(Ranks, Rooted, ::testing::Values(2, 3, 5, 8));

}  // namespace
}  // namespace espalier::collective
