// Reductions of which every rank gets a part of its own: reduce_scatter, scan and exscan. Operands are floats
// whose sum depends on the order, so that the order, from left to right, is tested bit for bit (invariant 3).
#include <mutex>

#include "collective/dispatch.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/collective/floats.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/collective/trees.hpp"

namespace espalier::collective {
namespace {

using plan::Algorithm;
using testing::WatchedMachine;
using namespace testing;

const reduce::Operation& sum_of_floats() { return *reduce::find(reduce::Op::sum, reduce::Type::float32); }

// Elements: one, inline or not, several chunks, more than a ring of 8 x 4 KiB; in small chunks not the
// largest.
std::vector<std::size_t> counts(const Plan& plan) {
  if (plan.chunk < 1000) return {1, 3, 28, 29, 601};
  return {1, 3, 28, 29, 1000, 1024, 5001, 10007};
}

class Parts : public ::testing::TestWithParam<std::tuple<int, Algorithm>> {
 protected:
  int n() const { return std::get<0>(GetParam()); }
  std::vector<Plan> plans() const { return plans_of(std::get<1>(GetParam())); }

  void expect_bits(const WatchedMachine& m, std::span<const float> got, std::span<const float> wanted,
                   const char* what) {
    if (same_bits(got, wanted)) return;
    const std::lock_guard lock(mutex_);
    ADD_FAILURE() << what << " on rank " << m.rank() << " of " << n() << ", " << wanted.size() << " elements";
  }
  std::mutex mutex_;
};

class ReduceScatter : public Parts {
 protected:
  using CountOf = std::function<std::size_t(int rank, std::size_t count, int round)>;

  // Elements for each rank; in place only where all have as many.
  void check(const CountOf& count_of, bool also_in_place) {
    for (const Shape& shape : shapes) {
      Ranks ranks(n(), shape.slots, shape.slot_bytes);
      Ranks pairwise_ranks = Ranks::pairwise(n(), shape.slots, shape.slot_bytes);
      for (const Plan& plan : plans())
        for (Ranks* each : {&ranks, &pairwise_ranks})
          each->run([&](WatchedMachine& m) { check(m, plan, count_of, also_in_place); });
    }
  }

 private:
  void check(WatchedMachine& m, const Plan& plan, const CountOf& count_of, bool also_in_place) {
    for (int round = 0; round < 3; ++round)
      for (const std::size_t count : counts(plan)) {
        std::vector<std::size_t> edges = {0};
        for (int r = 0; r < n(); ++r)
          edges.push_back(edges.back() + count_of(r, count, round) * sizeof(float));
        const PackedBlocks blocks{edges};
        auto send = floats_of(m.rank(), edges.back() / sizeof(float));
        std::vector<float> receive(blocks.bytes_of(m.rank()) / sizeof(float), -1.0f);
        const bool in_place = also_in_place && round == 1;
        float* const result = in_place ? send.data() : receive.data();
        by_plan::reduce_scatter(m, {send.data(), result, edges.back(), sum_of_floats()}, blocks, plan);
        const std::size_t own = blocks.offset_of(m.rank()) / sizeof(float);
        expect_bits(m, {result, receive.size()}, sum_in_order(0, n() - 1, receive.size(), own),
                    "reduce_scatter");
      }
  }
};

TEST_P(ReduceScatter, EqualBlocks) {
  check([](int, std::size_t count, int) { return count; }, true);
}
TEST_P(ReduceScatter, UnequalBlocksAndEmptyOnes) {
  check([](int rank, std::size_t count,
           int round) { return count * static_cast<std::size_t>((rank + round) % 3); },
        false);
}
TEST_P(ReduceScatter, OneRankGetsAll) {
  check([&](int rank, std::size_t count, int round) { return rank == round % n() ? count : 0; }, false);
}

class Scan : public Parts {
 protected:
  void run_scan(WatchedMachine& m, const Reduction& r, Prefix prefix, const Plan& plan) {
    by_plan::scan(m, [&](const Plan&, int) { return trees_.of(m.rank()); }, r, prefix, plan);
  }
  void check(Prefix prefix) {
    const bool exclusive = prefix == Prefix::exclusive;
    for (const Shape& shape : shapes) {
      Ranks ranks(n(), shape.slots, shape.slot_bytes);
      for (const Plan& plan : plans())
        ranks.run([&](WatchedMachine& m) {
          for (int round = 0; round < 4; ++round)
            for (const std::size_t count : counts(plan)) {
              auto send = floats_of(m.rank(), count);
              std::vector<float> receive(count, -1.0f);
              const bool in_place = round % 2 == 1;
              // Rank 0's buffer is left alone by exscan.
              const auto wanted = !exclusive      ? sum_in_order(0, m.rank(), count)
                                  : m.rank() == 0 ? (in_place ? send : receive)
                                                  : sum_in_order(0, m.rank() - 1, count);
              std::vector<float>& result = in_place ? send : receive;
              run_scan(m, {send.data(), result.data(), count * sizeof(float), sum_of_floats()}, prefix, plan);
              expect_bits(m, result, wanted, exclusive ? "exscan" : "scan");
            }
        });
    }
  }

 private:
  GatheringTrees trees_{n(), "kary:2", "kary:3"};
};

TEST_P(Scan, Inclusive) { check(Prefix::inclusive); }
TEST_P(Scan, Exclusive) { check(Prefix::exclusive); }

INSTANTIATE_TEST_SUITE_P(Ranks, ReduceScatter,
                         ::testing::Combine(::testing::Values(2, 3, 5, 8),
                                            ::testing::Values(Algorithm::exchange, Algorithm::central,
                                                              Algorithm::grouped)),
                         name_of_case<ReduceScatter>);
INSTANTIATE_TEST_SUITE_P(Ranks, Scan,
                         ::testing::Combine(::testing::Values(2, 3, 5, 8),
                                            ::testing::Values(Algorithm::exchange, Algorithm::central,
                                                              Algorithm::tree, Algorithm::chain,
                                                              Algorithm::sliced)),
                         name_of_case<Scan>);

}  // namespace
}  // namespace espalier::collective
