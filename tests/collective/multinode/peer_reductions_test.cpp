// Reductions between nodes, each by itself: right, within the scratch that they ask for, and with the same
// bits at all peers whatever the network does.
#include <map>
#include <mutex>

#include "collective/multinode/allreduce.hpp"
#include "collective/multinode/stage/whole_vectors.hpp"
#include "tests/collective/affine.hpp"
#include "tests/collective/floats.hpp"
#include "tests/collective/multinode/guarded.hpp"
#include "tests/collective/multinode/peers.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective::multinode {
namespace {

using network::Peers;
using testing::Guarded;
using testing::GuardedVector;

template <class T>
const reduce::Operation& sum_of() {
  return *reduce::find(reduce::Op::sum, sizeof(T) == 4 ? reduce::Type::float32 : reduce::Type::float64);
}

/// Scratch in bytes as each algorithm's own text asks for it.
struct Algorithm {
  const char* name;
  std::size_t (*scratch)(std::size_t bytes, std::size_t extent, int peers);
  Task (*start)(Peers peers, Vector v);
};

std::size_t whole(std::size_t bytes, std::size_t, int) { return bytes; }
std::size_t slice(std::size_t bytes, std::size_t extent, int peers) {
  const auto n = static_cast<std::size_t>(peers);
  return (bytes / extent + n - 1) / n * extent;
}
std::size_t all_vectors(std::size_t bytes, std::size_t, int peers) {
  return bytes * static_cast<std::size_t>(peers);
}

constexpr Algorithm everywhere[] = {{"recursive doubling", whole, allreduce_doubling<Peers>},
                                    {"rabenseifner", whole, allreduce_rabenseifner<Peers>},
                                    {"ring", slice, allreduce_ring<Peers>},
                                    {"gather all", all_vectors, allreduce_gather_all<Peers>}};

template <class T>
std::vector<T> run(const Peers& peers, const Algorithm& algorithm, const std::vector<T>& values,
                   const reduce::Operation& operation = sum_of<T>()) {
  GuardedVector<T> data(values);
  Guarded scratch(algorithm.scratch(data.size_bytes(), sizeof(T), peers.size()));
  testing::drive(peers, algorithm.start(peers, {data.bytes(), data.size_bytes(), scratch.data(), operation}));
  return data.values();
}

class PeerAllreduce : public ::testing::TestWithParam<Algorithm> {};

TEST_P(PeerAllreduce, IsRightEverywhere) {
  for (int n = 1; n <= testing::most_peers; ++n)
    testing::on_peers(n, static_cast<std::uint64_t>(n), [&](const Peers& peers) {
      for (const std::size_t count : testing::counts_for(n))
        EXPECT_EQ(run(peers, GetParam(), testing::vector_of(peers.rank(), count, 0)),
                  testing::sum_of(n, count, 0))
            << "peer " << peers.rank() << " of " << n << ", " << count << " elements";
    });
}

TEST_P(PeerAllreduce, GivesTheSameBitsEverywhereUnderEverySeed) {
  for (int n = 1; n <= testing::most_peers; ++n) {
    std::map<std::size_t, std::vector<float>> first;  // by count: what the rank that came first got
    std::mutex mutex;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      testing::on_peers(n, seed, [&](const Peers& peers) {
        for (const std::size_t count : testing::counts_for(n)) {
          const auto got = run(peers, GetParam(), testing::floats_of(peers.rank(), count));
          const std::lock_guard lock(mutex);
          const auto& wanted = first.try_emplace(count, got).first->second;
          EXPECT_TRUE(testing::same_bits(got, wanted))
              << "peer " << peers.rank() << " of " << n << ", " << count << " elements, seed " << seed;
        }
      });
  }
}

/// Zeros of both signs and NaNs of several payloads: of two that compare alike `max` takes the later.
std::vector<float> alike(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits[] = {0x00000000, 0x80000000, 0x7fc00001, 0xffc00002,
                                  0x7fc00003 + static_cast<std::uint32_t>(rank)};
    std::memcpy(&values[i], &bits[(static_cast<std::size_t>(rank) * 3 + i * 7 + i / 5) % 5], sizeof(float));
  }
  return values;
}

TEST_P(PeerAllreduce, GivesTheSameBitsWhereTheOrderOfTwoDecides) {
  const reduce::Operation& largest = *reduce::find(reduce::Op::max, reduce::Type::float32);
  for (int n = 2; n <= testing::most_peers; ++n) {
    std::vector<float> first;
    std::mutex mutex;
    testing::on_peers(n, 1, [&](const Peers& peers) {
      const auto got = run(peers, GetParam(), alike(peers.rank(), 101), largest);
      const std::lock_guard lock(mutex);
      if (first.empty()) first = got;
      EXPECT_TRUE(testing::same_bits(got, first)) << "peer " << peers.rank() << " of " << n;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, PeerAllreduce, ::testing::ValuesIn(everywhere), [](const auto& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

// The order of the floats is the one thing that this test is about.
TEST(PeerGatherAll, FoldsInRankOrder) {
  for (int n = 1; n <= testing::most_peers; ++n)
    testing::on_peers(n, 1, [&](const Peers& peers) {
      const auto got = run(peers, everywhere[3], testing::floats_of(peers.rank(), 37));
      EXPECT_TRUE(testing::same_bits(got, testing::sum_in_order(0, n - 1, 37))) << "peer " << peers.rank();
    });
}

/// Up a tree of peers; the result at the root.
template <class T>
std::vector<T> run_up(const Peers& peers, const TreePosition& position, const std::vector<T>& values) {
  GuardedVector<T> data(values);
  Guarded scratch(data.size_bytes() * position.children.size());
  testing::drive(peers,
                 reduce_up(peers, position, {data.bytes(), data.size_bytes(), scratch.data(), sum_of<T>()}));
  return data.values();
}

TEST(PeerReduce, UpEveryTreeToEveryRoot) {
  for (int n = 1; n <= testing::most_peers; ++n)
    for (const char* tree : testing::tree_shapes)
      testing::on_peers(n, static_cast<std::uint64_t>(n), [&](const Peers& peers) {
        for (int root = 0; root < n; ++root) {
          const TreePosition position =
              testing::places_in(tree, n, root)[static_cast<std::size_t>(peers.rank())];
          for (const std::size_t count : {0, 1, 37}) {
            const auto got = run_up(peers, position, testing::vector_of(peers.rank(), count, root));
            if (peers.rank() == root) {
              EXPECT_EQ(got, testing::sum_of(n, count, root)) << tree << ", root " << root << " of " << n;
            }
          }
        }
      });
}

TEST(PeerReduce, UpATreeGivesTheSameBitsUnderEverySeed) {
  for (const char* tree : testing::tree_shapes) {
    std::vector<float> first;
    for (std::uint64_t seed = 1; seed <= 6; ++seed)
      testing::on_peers(testing::most_peers, seed, [&](const Peers& peers) {
        const TreePosition position =
            testing::places_in(tree, peers.size(), 2)[static_cast<std::size_t>(peers.rank())];
        const auto got = run_up(peers, position, testing::floats_of(peers.rank(), 37));
        if (peers.rank() != 2) return;
        if (first.empty()) first = got;
        EXPECT_TRUE(testing::same_bits(got, first)) << tree << ", seed " << seed;
      });
  }
}

TEST(PeerReduce, ByRabenseifnerToPeerZero) {
  for (int n = 1; n <= testing::most_peers; ++n) {
    std::map<std::size_t, std::vector<float>> first;
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      testing::on_peers(n, seed, [&](const Peers& peers) {
        const Algorithm algorithm = {"", whole, reduce_rabenseifner<Peers>};
        for (const std::size_t count : testing::counts_for(n)) {
          const auto exact = run(peers, algorithm, testing::vector_of(peers.rank(), count, 0));
          const auto got = run(peers, algorithm, testing::floats_of(peers.rank(), count));
          if (peers.rank() != 0) continue;
          EXPECT_EQ(exact, testing::sum_of(n, count, 0)) << n << " peers, " << count << " elements";
          EXPECT_TRUE(testing::same_bits(got, first.try_emplace(count, got).first->second))
              << n << " peers, " << count << " elements, seed " << seed;
        }
      });
  }
}

TEST(PeerAllreduceByTree, IsRightEverywhere) {
  for (int n = 1; n <= testing::most_peers; ++n)
    for (const char* tree : {"knomial:2", "kary:2", "chain"})
      testing::on_peers(n, 7, [&](const Peers& peers) {
        const TreePosition position =
            testing::places_in(tree, n, n / 2)[static_cast<std::size_t>(peers.rank())];
        for (const std::size_t count : testing::counts_for(n)) {
          GuardedVector<double> data(testing::vector_of(peers.rank(), count, 1));
          Guarded scratch(data.size_bytes() * std::max<std::size_t>(1, position.children.size()));
          const Vector v = {data.bytes(), data.size_bytes(), scratch.data(), sum_of<double>()};
          testing::drive(peers, reduce_and_bcast(peers, position, v));
          EXPECT_EQ(data.values(), testing::sum_of(n, count, 1)) << "peer " << peers.rank() << " of " << n;
        }
      });
}

TEST(PeerReduceWhole, KeepsTheOrderForEveryRoot) {
  for (int n = 1; n <= testing::most_peers; ++n)
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      testing::on_peers(n, seed, [&](const Peers& peers) {
        for (int root = 0; root < n; ++root)
          for (const std::size_t count : {0, 1, 37}) {
            const ContiguousPosition position = contiguous_position(n, peers.rank(), root);
            const std::size_t bytes = count * sizeof(testing::Affine);
            std::unique_ptr<std::byte[]> own(new std::byte[bytes]);
            if (bytes > 0) std::memcpy(own.get(), testing::maps_of(peers.rank(), count).data(), bytes);
            testing::Length length{count};
            testing::drive(peers,
                           reduce_whole_up(peers, position, own, bytes, {testing::combine_affine, &length}));
            if (peers.rank() != root || bytes == 0) continue;
            const auto wanted = testing::composed(0, n - 1, count);
            EXPECT_EQ(std::memcmp(own.get(), wanted.data(), bytes), 0) << "root " << root << " of " << n;
          }
      });
}

}  // namespace
}  // namespace espalier::collective::multinode
