// Invariant 3: all ranks get identical bits, and every call gives the same ones, the rank that comes late.
// Shown with floats whose sum depends on the order in which they are added.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <mutex>

#include "collective/node/reductions/allreduce.hpp"
#include "collective/node/reductions/allreduce_central.hpp"
#include "collective/node/reductions/allreduce_exchange.hpp"
#include "collective/node/reductions/allreduce_sliced.hpp"
#include "tests/collective/floats.hpp"
#include "tests/collective/ranks.hpp"
#include "tree/compose.hpp"

namespace espalier::collective {
namespace {

using testing::floats_of;
using testing::Ranks;
using testing::same_bits;
using testing::sum_in_order;
using testing::WatchedMachine;

std::vector<TreePosition> places_of(int ranks, const char* text) {
  std::vector<TreePosition> places;
  const tree::Tree tree = tree::compose(topology::flat_group(ranks), tree::parse_spec(text), 0);
  for (int rank = 0; rank < ranks; ++rank) places.push_back(position_of(tree, rank));
  return places;
}

class Bits : public ::testing::TestWithParam<const char*> {
 protected:
  static Ranks ranks_for(const std::string& name, int n, int slots = 8) {
    return name.ends_with("by pairwise cells") ? Ranks::pairwise(n, slots) : Ranks(n, slots);
  }
  static void allreduce(const std::string& name, WatchedMachine& m, const std::vector<TreePosition>& up,
                        const std::vector<TreePosition>& down, const Reduction& r, const Plan& plan) {
    const auto rank = static_cast<std::size_t>(m.rank());
    if (name == "exchange")
      allreduce_exchange(m, r, plan);
    else if (name == "central")
      allreduce_central(m, r, plan);
    else if (name.starts_with("sliced"))
      allreduce_sliced(m, r, plan);
    else
      allreduce_tree(m, up[rank], down[rank], r, plan);
  }
};

TEST(BitsOfTheData, DependOnTheOrder) {
  for (const int ranks : {3, 8})
    EXPECT_FALSE(same_bits(sum_in_order(0, ranks - 1, 100), sum_in_order(ranks - 1, 0, 100)));
}

// Rounds differ in who comes late; results must not.
TEST_P(Bits, SameOnAllRanksAndInEveryCall) {
  const std::string name = GetParam();
  const bool on_trees = name.starts_with("tree");
  constexpr int rounds = 12;
  for (const int n : {2, 3, 5, 8}) {
    const auto up = places_of(n, on_trees ? name.substr(5).c_str() : "flat");
    const auto down = places_of(n, "kary:2");
    Ranks ranks = ranks_for(name, n);
    for (const std::size_t count : {1, 7, 28, 29, 1000, 1024, 3001, 20000}) {
      const std::vector<float> in_rank_order = sum_in_order(0, n - 1, count);
      for (const std::size_t chunk : {std::size_t{1000}, std::size_t{4096}, std::size_t{16384}}) {
        Plan plan;
        plan.chunk = chunk;
        std::vector<std::vector<float>> results(static_cast<std::size_t>(n * rounds));
        ranks.run([&](WatchedMachine& m) {
          const auto send = floats_of(m.rank(), count);
          for (int round = 0; round < rounds; ++round) {
            if (m.rank() == round % n)
              std::this_thread::sleep_for(std::chrono::microseconds(100 * (round % 3)));
            std::vector<float> receive(count, -1.0f);
            const bool in_place = round % 2 == 1;
            if (in_place) receive = send;
            const Reduction r = {in_place ? receive.data() : send.data(), receive.data(),
                                 count * sizeof(float),
                                 *reduce::find(reduce::Op::sum, reduce::Type::float32)};
            allreduce(name, m, up, down, r, plan);
            results[static_cast<std::size_t>(m.rank() * rounds + round)] = std::move(receive);
          }
        });
        for (std::size_t k = 1; k < results.size(); ++k)
          ASSERT_TRUE(same_bits(results[0], results[k]))
              << name << ", " << count << " floats, chunk " << chunk << ": rank 0 call 0 and rank "
              << k / rounds << " call " << k % rounds << " of " << n << " ranks";
        if (!on_trees) {
          ASSERT_TRUE(same_bits(results[0], in_rank_order))
              << name << " folds in rank order, " << count << " floats";
        }
      }
    }
  }
}

// Chunks, slots and the way to carry small data are a matter of speed, not of bits.
TEST_P(Bits, DoNotDependOnChunksOrInlining) {
  const std::string name = GetParam();
  const bool on_trees = name.starts_with("tree");
  constexpr int n = 4;
  const auto up = places_of(n, on_trees ? name.substr(5).c_str() : "flat");
  const auto down = places_of(n, "flat");
  for (const std::size_t count : {20, 5000}) {
    std::vector<float> first;
    for (const int slots : {1, 8})
      for (const std::size_t chunk : {64, 4096, 32768})
        for (const bool inlined : {true, false}) {
          Ranks ranks = ranks_for(name, n, slots);
          Plan plan;
          plan.chunk = chunk;
          plan.inlined = inlined;
          plan.copy_avoidance = inlined;
          std::mutex mutex;
          ranks.run([&](WatchedMachine& m) {
            const auto send = floats_of(m.rank(), count);
            std::vector<float> receive(count);
            allreduce(name, m, up, down,
                      {send.data(), receive.data(), count * sizeof(float),
                       *reduce::find(reduce::Op::sum, reduce::Type::float32)},
                      plan);
            const std::lock_guard lock(mutex);
            if (first.empty()) first = receive;
            EXPECT_TRUE(same_bits(first, receive))
                << name << ", " << slots << " slots, chunk " << chunk << ", inlined " << inlined;
          });
        }
  }
}

std::string name_of(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Algorithms, Bits,
                         ::testing::Values("exchange", "central", "sliced", "sliced by pairwise cells",
                                           "tree flat", "tree kary:2 skew=right", "tree chain",
                                           "tree knomial:2"),
                         name_of);

}  // namespace
}  // namespace espalier::collective
