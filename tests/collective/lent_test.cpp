// Blocks and vectors in memory that all ranks can map are read where they lie, without the kernel; where one
// rank's lie elsewhere, all is as ever.
#include <set>
#include <tuple>

#include "collective/node/all_to_all/allgather.hpp"
#include "collective/node/all_to_all/alltoall.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "collective/node/reductions/reduce_scatter.hpp"
#include "collective/node/reductions/reduce_zero_copy.hpp"
#include "collective/node/rooted/bcast_single_copy.hpp"
#include "collective/node/rooted/gather.hpp"
#include "collective/node/rooted/gatherv.hpp"
#include "collective/node/rooted/scatterv.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/collective/shared_buffers.hpp"
#include "tree/compose.hpp"

namespace espalier::collective {
namespace {

using plan::Algorithm;
using testing::Bytes;
using testing::Ranks;
using testing::SharedVector;
using testing::WatchedMachine;

constexpr std::size_t lend = 1000;

/// Counts what a rank reads where it lies.
struct CountedReads : testing::Watcher {
  bool may_expose(bool by_kernel) override {
    EXPECT_FALSE(by_kernel);
    return true;
  }
  void pulls(const void* source, std::size_t bytes) override {
    EXPECT_TRUE(memory::SharedHeap::holds(source, bytes));
    ++pulled;
  }
  void views() override { ++viewed; }
  int pulled = 0, viewed = 0;
};

class SharedResult : public ::testing::TestWithParam<std::tuple<int, Algorithm>> {
 protected:
  void SetUp() override {
    if (const char* why = testing::why_no_shared_buffers()) GTEST_SKIP() << "no shared heap here: " << why;
  }
  int n() const { return std::get<0>(GetParam()); }
  Plan plan() const {
    Plan plan;
    plan.algorithm = std::get<1>(GetParam());
    plan.chunk = 4096;
    plan.zero_copy = lend;
    return plan;
  }
  /// body(machine, plan, all buffers lie in the heap); of the others' rank 1 has them elsewhere.
  template <class Body>
  void run(Body body) {
    for (const bool all_expose : {true, false})
      Ranks(n()).run([&](WatchedMachine& m) {
        CountedReads reads;
        WatchedMachine watched(m, reads);
        body(watched, plan(), all_expose || m.rank() != 1);
        check(m.rank(), reads, all_expose);
      });
  }
  void check(int rank, const CountedReads& reads, bool all_expose) {
    const bool has_to_read = all_expose && !quiet_.contains(rank);
    EXPECT_TRUE(!has_to_read || reads.pulled + reads.viewed > 0)
        << "rank " << rank << " has read nothing where it lies";
  }
  std::set<int> quiet_;  // ranks that read nothing of others
};

SharedVector<std::byte> shared(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

/// The same bytes in the heap, or not.
struct Buffer {
  Buffer(Bytes bytes, bool in_heap) : elsewhere(std::move(bytes)) {
    if (in_heap) heap = shared(elsewhere);
  }
  std::byte* data() { return heap.empty() ? elsewhere.data() : heap.data(); }
  Bytes bytes() const { return heap.empty() ? elsewhere : Bytes(heap.begin(), heap.end()); }
  Bytes elsewhere;
  SharedVector<std::byte> heap;
};

const std::vector<std::size_t> sizes = {lend - 8, lend, 5000, 100000};

TEST_P(SharedResult, Allgather) {
  run([&](WatchedMachine& m, const Plan& plan, bool in_heap) {
    for (const std::size_t bytes : sizes) {
      Buffer own(testing::block_of(m.rank(), 0, bytes, 1), in_heap);
      Bytes got(bytes * static_cast<std::size_t>(n()), testing::untouched), wanted;
      for (int r = 0; r < n(); ++r) testing::append(wanted, testing::block_of(r, 0, bytes, 1));
      if (!allgather_single_copy(m, own.data(), got.data(), EqualBlocks{bytes}, plan))
        allgather(m, own.data(), got.data(), EqualBlocks{bytes}, plan);
      testing::expect_same(got, wanted, "allgather", m, bytes);
      std::fill_n(own.data(), bytes, testing::untouched);  // it is this rank's own again
    }
  });
}

TEST_P(SharedResult, Alltoall) {
  run([&](WatchedMachine& m, const Plan& plan, bool in_heap) {
    for (const std::size_t bytes : sizes) {
      Bytes send, wanted;
      for (int r = 0; r < n(); ++r) {
        testing::append(send, testing::block_of(m.rank(), r, bytes, 2));
        testing::append(wanted, testing::block_of(r, m.rank(), bytes, 2));
      }
      Buffer own(send, in_heap);
      Bytes got(send.size(), testing::untouched);
      if (!alltoall_single_copy(m, own.data(), got.data(), bytes, plan))
        alltoall(m, own.data(), got.data(), bytes, plan);
      testing::expect_same(got, wanted, "alltoall", m, bytes);
      std::fill_n(own.data(), send.size(), testing::untouched);
    }
  });
}

// Of some blocks long enough to be lent, of others not; each rank lends by itself.
TEST_P(SharedResult, Alltoallv) {
  const auto bytes_of = [&](int from, int to, int round) { return testing::unequal(from * n() + to, round); };
  run([&](WatchedMachine& m, const Plan& plan, bool in_heap) {
    for (int round = 0; round < 12; ++round) {
      const testing::Spread out(n(), round, [&](int to) { return bytes_of(m.rank(), to, round); });
      const testing::Spread in(n(), round, [&](int from) { return bytes_of(from, m.rank(), round); });
      Bytes send(out.end, testing::untouched), wanted(in.end, testing::untouched), got = wanted;
      for (int r = 0; r < n(); ++r) {
        out.put(send, r, testing::block_of(m.rank(), r, out.bytes[static_cast<std::size_t>(r)], round));
        in.put(wanted, r, testing::block_of(r, m.rank(), in.bytes[static_cast<std::size_t>(r)], round));
      }
      Buffer own(send, in_heap);
      alltoallv(m, own.data(), out.blocks(), got.data(), in.blocks(), plan);
      testing::expect_same(got, wanted, "alltoallv", m, out.end);
      std::fill_n(own.data(), send.size(), testing::untouched);
    }
  });
}

TEST_P(SharedResult, Gatherv) {
  const int root = n() - 1;
  for (int r = 0; r < n(); ++r)
    if (r != root) quiet_.insert(r);
  run([&](WatchedMachine& m, const Plan& plan, bool in_heap) {
    for (int round = 0; round < 12; ++round) {
      const testing::Spread in(n(), round, [&](int from) { return testing::unequal(from, round); });
      Buffer own(testing::block_of(m.rank(), 0, in.bytes[static_cast<std::size_t>(m.rank())], round),
                 in_heap);
      if (m.rank() != root) {
        send_gatherv(m, root, own.data(), own.bytes().size(), plan);
      } else {
        Bytes got(in.end, testing::untouched), wanted = got;
        for (int r = 0; r < n(); ++r)
          in.put(wanted, r, testing::block_of(r, 0, in.bytes[static_cast<std::size_t>(r)], round));
        receive_gatherv(m, own.data(), got.data(), in.blocks(), plan);
        testing::expect_same(got, wanted, "gatherv", m, in.end);
      }
      std::fill_n(own.data(), own.bytes().size(), testing::untouched);
    }
  });
}

TEST_P(SharedResult, Scatterv) {
  const int root = 1;
  quiet_.insert(root);
  run([&](WatchedMachine& m, const Plan& plan, bool in_heap) {
    for (const std::size_t bytes : sizes) {
      Bytes got(bytes, testing::untouched);
      if (m.rank() != root) {
        receive_scatterv(m, root, got.data(), bytes, plan);
      } else {
        Bytes send;
        for (int r = 0; r < n(); ++r) testing::append(send, testing::block_of(root, r, bytes, 3));
        Buffer own(send, in_heap);
        send_scatterv(m, own.data(), got.data(), EqualBlocks{bytes}, plan);
        std::fill_n(own.data(), send.size(), testing::untouched);
      }
      testing::expect_same(got, testing::block_of(root, m.rank(), bytes, 3), "scatterv", m, bytes);
    }
  });
}

TEST_P(SharedResult, Bcast) {
  const int root = 1;
  quiet_.insert(root);
  const tree::Tree tree = tree::compose(topology::flat_group(n()), tree::parse_spec("kary:2"), root);
  std::vector<TreePosition> places;
  for (int rank = 0; rank < n(); ++rank) places.push_back(position_of(tree, rank));
  run([&](WatchedMachine& m, const Plan& plan, bool in_heap) {
    for (const std::size_t bytes : sizes) {
      Buffer own(testing::block_of(m.rank(), 0, bytes, 4), in_heap);
      bcast_single_copy(m, places[static_cast<std::size_t>(m.rank())], own.data(), bytes, plan);
      testing::expect_same(own.bytes(), testing::block_of(root, 0, bytes, 4), "bcast", m, bytes);
      std::fill_n(own.data(), bytes, testing::untouched);
    }
  });
}

/// Vectors whose sums depend on the order, by rounding.
SharedVector<double> rough(int rank, std::size_t count) {
  SharedVector<double> v(count);
  for (std::size_t i = 0; i < count; ++i)
    v[i] = 1.0 / static_cast<double>(1 + (i * 7 + static_cast<std::size_t>(rank) * 13) % 97);
  return v;
}

std::vector<double> folded(int ranks, std::size_t count) {
  std::vector<double> sum(count);
  for (int r = 0; r < ranks; ++r) {
    const SharedVector<double> v = rough(r, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = r == 0 ? v[i] : sum[i] + v[i];
  }
  return sum;
}

const reduce::Operation& doubles_summed() { return *reduce::find(reduce::Op::sum, reduce::Type::float64); }

// The rank that reads what: the bits are those of a fold in rank order. In one round no rank's result is
// written over its vector, in others some ranks' and every rank's is.
TEST_P(SharedResult, Allreduce) {
  Ranks(n()).run([&](WatchedMachine& host) {
    CountedReads reads;
    WatchedMachine m(host, reads);
    for (const std::size_t count : {std::size_t{200}, std::size_t{9001}, std::size_t{70000}}) {
      const std::vector<double> wanted = folded(n(), count);
      for (int round = 0; round < 3; ++round) {
        SharedVector<double> data = rough(m.rank(), count), result(count);
        const bool in_place = round == 2 || (round == 1 && m.rank() % 2 == 0);
        SharedVector<double>& receive = in_place ? data : result;
        EXPECT_TRUE(allreduce_zero_copy(m, {data.data(), receive.data(), count * 8, doubles_summed()}));
        EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), receive.begin()))
            << count << " elements, round " << round << ", rank " << m.rank();
        std::fill(data.begin(), data.end(), -1.0);
        std::fill(result.begin(), result.end(), -1.0);
      }
    }
    EXPECT_GT(reads.viewed, 0);
  });
}

TEST_P(SharedResult, AllreduceOfMemoryThatOneRankHasElsewhere) {
  Ranks(n()).run([&](WatchedMachine& m) {
    constexpr std::size_t count = 5000;
    for (const bool elsewhere_is_result : {false, true}) {
      SharedVector<double> in_heap = rough(m.rank(), count), result(count);
      std::vector<double> elsewhere(in_heap.begin(), in_heap.end());
      const double* send = m.rank() == 1 && !elsewhere_is_result ? elsewhere.data() : in_heap.data();
      double* receive = m.rank() == 1 && elsewhere_is_result ? elsewhere.data() : result.data();
      EXPECT_FALSE(allreduce_zero_copy(m, {send, receive, count * 8, doubles_summed()}));
    }
  });
}

TEST_P(SharedResult, ReduceScatter) {
  run([&](WatchedMachine& m, const Plan& plan, bool in_heap) {
    for (const std::size_t elements : {std::size_t{20}, std::size_t{130}, std::size_t{9000}}) {
      const std::size_t count = elements * static_cast<std::size_t>(n());
      const SharedVector<double> heap = rough(m.rank(), count);
      const std::vector<double> elsewhere(heap.begin(), heap.end()), all = folded(n(), count);
      std::vector<double> got(elements);
      const double* send = in_heap ? heap.data() : elsewhere.data();
      const Reduction reduction = {send, got.data(), count * 8, doubles_summed()};
      if (!reduce_scatter_zero_copy(m, reduction, EqualBlocks{elements * 8}))
        reduce_scatter(m, reduction, EqualBlocks{elements * 8}, plan);
      EXPECT_TRUE(
          std::equal(got.begin(), got.end(), all.begin() + static_cast<std::ptrdiff_t>(elements) * m.rank()))
          << elements << " elements, rank " << m.rank();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedResult,
                         ::testing::Combine(::testing::Values(2, 3, 5),
                                            ::testing::Values(Algorithm::exchange, Algorithm::central)),
                         testing::name_of_case<SharedResult>);

}  // namespace
}  // namespace espalier::collective
