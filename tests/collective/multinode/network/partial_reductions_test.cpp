// NOTIFY III: dissemination for every number of nodes.
#include "collective/multinode/network/partial_reductions.hpp"

#include <map>
#include <mutex>
#include <set>

#include "collective/multinode/network/ordered_parts.hpp"
#include "tests/collective/affine.hpp"
#include "tests/collective/floats.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/peers.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/full.hpp"

namespace espalier::collective::multinode {
namespace {

using network::Peers;
using testing::Guarded;
using testing::GuardedVector;

constexpr int most_nodes = 33;  // past a power of two

/// A hundred in `make test-full`: as many threads as nodes take their time.
int runs() {
  static const bool full = espalier::testing::full();
  return full ? 100 : 10;
}

template <class T, class Start>
std::vector<T> run(const Peers& peers, const std::vector<T>& values, std::size_t scratch_vectors,
                   const reduce::Operation& operation, Start start) {
  GuardedVector<T> data(values);
  Guarded scratch(scratch_vectors * data.size_bytes());
  testing::drive(peers, start(peers, Vector{data.bytes(), data.size_bytes(), scratch.data(), operation}));
  return data.values();
}

std::vector<std::int64_t> integers_of(int peer, std::size_t count, int round) {
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(peer) * 7919 + i * 31 + static_cast<std::uint64_t>(round) * 131 + 1) *
        0x9E3779B97F4A7C15u);
  return values;
}

std::vector<std::int64_t> integer_sum(int n, std::size_t count, int round) {
  std::vector<std::int64_t> sum(count);
  for (int peer = 0; peer < n; ++peer) {
    const auto theirs = integers_of(peer, count, round);
    for (std::size_t i = 0; i < count; ++i)
      sum[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum[i]) +
                                         static_cast<std::uint64_t>(theirs[i]));
  }
  return sum;
}

// The paper's figures 4 and 5.
TEST(PartialReductions, SevenAndElevenNodes) {
  const PartialReductions seven(7);
  EXPECT_EQ(seven.rounds(), 2);  // to 1 and 2 up; then
  EXPECT_TRUE(seven.is_sent_early(1) && seven.is_sent_early(0));
  EXPECT_EQ(seven.early_distance(1), 4);
  EXPECT_EQ(seven.early_distance(0), 6);
  const PartialReductions eleven(11);
  EXPECT_EQ(eleven.rounds(), 3);
  EXPECT_FALSE(eleven.is_sent_early(2));
  EXPECT_EQ(eleven.early_distance(1), 8);
  EXPECT_EQ(eleven.early_distance(0), 10);
}

TEST(PartialReductions, EveryPeerIsHeardOfOnce) {
  for (int n = 1; n <= 1000; ++n) {
    const PartialReductions parts(n);
    std::vector<bool> heard(static_cast<std::size_t>(n));
    std::set<int> targets;
    const auto hear = [&](int distance, int count) {
      for (int i = 0; i < count; ++i) {
        const auto peer = static_cast<std::size_t>(around(-distance - i, n));
        EXPECT_FALSE(heard[peer]) << n << " peers";
        heard[peer] = true;
      }
    };
    hear(0, 1 << parts.rounds());
    for (int k = 0; k < parts.rounds(); ++k) {
      EXPECT_TRUE(targets.insert(around(1 << k, n)).second) << n << " peers";
      if (!parts.is_sent_early(k)) continue;
      hear(parts.early_distance(k), 1 << k);
      EXPECT_TRUE(targets.insert(around(parts.early_distance(k), n)).second) << n << " peers";
    }
    EXPECT_EQ(std::count(heard.begin(), heard.end(), true), n);
  }
}

TEST(BranchTree, BranchesMakeUpTheRange) {
  for (int n = 1; n <= 70; ++n) {
    const BranchTree tree(n);
    for (int last = 0; last < n; ++last)
      for (int count = 1; count <= n; count = count < n ? std::min(2 * count, n) : n + 1) {
        std::set<int> peers;
        for (const Branch& branch : tree.up_to(last, count))
          for (int peer = branch.first; peer < tree.end(branch); ++peer)
            EXPECT_TRUE(peers.insert(peer).second);
        EXPECT_EQ(static_cast<int>(peers.size()), count);
        for (int i = 0; i < count; ++i) EXPECT_TRUE(peers.contains(around(last - i, n)));
      }
  }
}

TEST(Dissemination, OfIntegersForEveryNumberOfNodes) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, reduce::Type::int64);
  ASSERT_TRUE(reduce::folds_in_any_order(sum));
  for (int n = 1; n <= most_nodes; ++n)
    testing::on_peers(n, static_cast<std::uint64_t>(n), [&](const Peers& peers) {
      for (int round = 0; round < runs(); ++round) {
        const std::size_t count = round % 10 == 9 ? 100 : round % 10 == 8 ? 0 : 1;
        EXPECT_EQ(run(peers, integers_of(peers.rank(), count, round), any_order_scratch(n), sum,
                      allreduce_any_order<Peers>),
                  integer_sum(n, count, round))
            << "peer " << peers.rank() << " of " << n << ", run " << round;
      }
    });
}

TEST(Dissemination, OfFloatsGivesTheSameBitsForEveryNumberOfNodes) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, reduce::Type::float32);
  ASSERT_FALSE(reduce::folds_in_any_order(sum));
  for (int n = 1; n <= most_nodes; ++n) {
    std::map<std::size_t, std::vector<float>> first;  // by count: what the rank that came first got
    std::mutex mutex;
    testing::on_peers(n, static_cast<std::uint64_t>(n), [&](const Peers& peers) {
      for (int round = 0; round < runs(); ++round) {
        const std::size_t count = round % 10 == 9 ? 100 : 3;
        const auto got = run(peers, testing::floats_of(peers.rank(), count), ordered_scratch(peers.rank(), n),
                             sum, allreduce_ordered<Peers>);
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(testing::same_bits(got, first.try_emplace(count, got).first->second))
            << "peer " << peers.rank() << " of " << n << ", run " << round;
      }
    });
  }
}

TEST(Dissemination, OfExactFloatsIsRight) {
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
  for (int n = 1; n <= most_nodes; ++n)
    testing::on_peers(n, 5, [&](const Peers& peers) {
      for (const std::size_t count : {0, 1, 37})
        EXPECT_EQ(run(peers, testing::vector_of(peers.rank(), count, 1), ordered_scratch(peers.rank(), n),
                      sum, allreduce_ordered<Peers>),
                  testing::sum_of(n, count, 1))
            << "peer " << peers.rank() << " of " << n;
    });
}

/// Composition of maps, as a kernel: does not commute.
void compose(void* target, const void* const* sources, int count, std::size_t elements) noexcept {
  testing::Length length{elements};
  std::vector<testing::Affine> folded(elements);
  std::memcpy(folded.data(), sources[count - 1], elements * sizeof(testing::Affine));
  for (int i = count - 2; i >= 0; --i) testing::combine_affine(&length, sources[i], folded.data());
  std::memcpy(target, folded.data(), elements * sizeof(testing::Affine));
}

TEST(Dissemination, KeepsRankOrder) {
  const reduce::Operation composition = {compose, reduce::Op::none, reduce::Type::none, reduce::no_operation,
                                         sizeof(testing::Affine)};
  ASSERT_FALSE(reduce::folds_in_any_order(composition));
  for (int n = 1; n <= most_nodes; ++n)
    testing::on_peers(n, 3, [&](const Peers& peers) {
      EXPECT_EQ(run(peers, testing::maps_of(peers.rank(), 5), ordered_scratch(peers.rank(), n), composition,
                    allreduce_ordered<Peers>),
                testing::composed(0, n - 1, 5))
          << "peer " << peers.rank() << " of " << n;
    });
}

TEST(PartialReductions, EachMessageOfAPeerHasANumberOfItsOwn) {
  for (int n = 2; n < 200; ++n) {
    const PartialReductions parts(n);
    std::set<int> numbers;
    for (int k = 0; k < parts.rounds(); ++k) {
      numbers.insert(parts.message_from(1 << k));
      if (parts.is_sent_early(k)) numbers.insert(parts.message_from(parts.early_distance(k)));
    }
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(parts.messages())) << n;
    EXPECT_EQ(*numbers.rbegin(), parts.messages() - 1) << n;
  }
}

}  // namespace
}  // namespace espalier::collective::multinode
