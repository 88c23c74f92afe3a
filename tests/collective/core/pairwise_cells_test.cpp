#include "collective/core/pairwise_cells.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "collective/node/all_to_all/alltoall.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "collective/node/reductions/allreduce_sliced.hpp"
#include "collective/node/reductions/reduce_scatter.hpp"
#include "memory/copy/streaming_copy.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

using plan::Algorithm;
using testing::WatchedMachine;
using namespace testing;

/// Counts the cells that are asked for, to see which way a call goes.
struct CountedCells : Watcher {
  explicit CountedCells(std::atomic<int>& asked) : count(&asked) {}
  void takes_cell() override { ++*count; }
  std::atomic<int>* count;
};

constexpr int n = 3;
constexpr std::size_t cell = 8192;  // of 8 slots of 4 KiB, half of the ring for two others

/// How many cells `body(machine, plan)` asks for on three ranks.
template <class Body>
int cells_of(Ranks ranks, Algorithm algorithm, Body body) {
  std::atomic<int> cells = 0;
  Plan plan;
  plan.algorithm = algorithm;
  plan.chunk = 16384;
  ranks.run([&](WatchedMachine& m) {
    CountedCells counted(cells);
    WatchedMachine watched(m, counted);
    body(watched, plan);
  });
  return cells;
}
constexpr int one_round = n * (n - 1) * 2;  // each is written and read

auto alltoall_of(std::size_t bytes) {
  return [=](auto& m, const Plan& plan) {
    const std::vector<std::byte> send(n * bytes);
    std::vector<std::byte> receive(n * bytes);
    alltoall(m, send.data(), receive.data(), bytes, plan);
  };
}

TEST(PairwiseCells, CarryAlltoall) {
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::central, alltoall_of(1000)), one_round);
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::central, alltoall_of(cell)), one_round);
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::central, alltoall_of(cell + 1)), 2 * one_round);
}

TEST(PairwiseCells, AreLeftAloneByRanksThatDoNotMeetOrDoNotTrade) {
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::exchange, alltoall_of(1000)), 0);
  EXPECT_EQ(cells_of(Ranks(n), Algorithm::central, alltoall_of(1000)), 0);
}

TEST(PairwiseCells, AreNotForBlocksShorterThanALine) {
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::central, alltoall_of(63)), 0);
}

// Fewer slots, shorter cells: then the slots, which hold two blocks of more than a cell, take fewer rounds.
TEST(PairwiseCells, AreNotForCallsThatWouldTakeMoreRounds) {
  EXPECT_EQ(cells_of(Ranks::pairwise(n, 4), Algorithm::central, alltoall_of(4096)), one_round);
  EXPECT_EQ(cells_of(Ranks::pairwise(n, 4), Algorithm::central, alltoall_of(5000)), 0);
}

// What goes one way in a round comes back in the next, so a short last round would leave lines with the
// other.
TEST(PairwiseCells, CarryAboutAsMuchOfABlockInEachRound) {
  Ranks ranks = Ranks::pairwise(n);
  Plan plan;
  plan.algorithm = Algorithm::central;
  const auto& m = ranks.machine(0);
  for (const std::size_t element : {1u, 8u, 12u, 100u})
    for (const std::size_t block : {8000u, 8400u, 16384u, 16800u, 50400u}) {
      const Meeting<WatchedMachine> meeting(ranks.machine(0), plan);
      const PairwiseCells cells(m, meeting, block, element);
      std::size_t covered = 0;
      for (std::size_t i = 0; i < cells.rounds(); ++i) {
        const Part part = cells.part(block, i);
        EXPECT_EQ(part.offset, covered);
        EXPECT_LE(part.bytes, cell);
        EXPECT_GT(part.bytes + std::max<std::size_t>(64, element) * cells.rounds(), block / cells.rounds());
        covered += part.bytes;
      }
      EXPECT_EQ(covered, block) << element;
    }
}

/// Adds up how much is shown past a copy.
struct ShownBytes : Watcher {
  explicit ShownBytes(std::atomic<std::size_t>& bytes) : shown(&bytes) {}
  void writes_slot(std::size_t bytes) override { *shown += bytes; }
  std::atomic<std::size_t>* shown;
};

// Blocks of 4000, 2000 and 1000 bytes: ranks 0 and 1 have 2000 more for each other one way than the other,
// and so on. All else comes back.
TEST(PairwiseCells, ShowWhatDoesNotComeBack) {
  std::atomic<std::size_t> shown = 0;
  Ranks ranks = Ranks::pairwise(n);
  Plan plan;
  plan.algorithm = Algorithm::central;
  plan.chunk = 16384;
  const std::vector<std::size_t> edges = {0, 4000, 6000, 7000};
  ranks.run([&](WatchedMachine& m) {
    ShownBytes watcher(shown);
    WatchedMachine watched(m, watcher);
    const std::vector<float> send(7000 / sizeof(float), 1.0F);
    const std::size_t own =
        edges[static_cast<std::size_t>(m.rank()) + 1] - edges[static_cast<std::size_t>(m.rank())];
    std::vector<float> receive(own / sizeof(float));
    const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float32);
    reduce_scatter(watched, {send.data(), receive.data(), 7000, sum}, PackedBlocks{edges}, plan);
    EXPECT_EQ(receive, std::vector<float>(own / sizeof(float), 3.0F));
  });
  EXPECT_EQ(shown, 2000u + 3000u + 1000u);
}

// Whatever goes past the caches is there when it is announced.
TEST(PairwiseCells, MayBeStreamed) {
  struct Streaming {
    Streaming() { memory::choose_streaming(true); }
    ~Streaming() { memory::streaming_from = from, memory::streams_always = always; }
    std::size_t from = memory::streaming_from;
    bool always = memory::streams_always;
  } streaming;
  Ranks ranks = Ranks::pairwise(n, 16, 16384);
  Plan plan;
  plan.algorithm = Algorithm::central;
  plan.chunk = 256 * 1024;
  const std::vector<std::size_t> edges = {0, 200'000, 208'000, 308'000};
  const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
  ranks.run([&](WatchedMachine& m) {
    const auto me = static_cast<std::size_t>(m.rank());
    for (int call = 0; call < 200; ++call) {
      const std::vector<double> send(edges.back() / sizeof(double), call);
      std::vector<double> receive((edges[me + 1] - edges[me]) / sizeof(double));
      reduce_scatter(m, {send.data(), receive.data(), edges.back(), sum}, PackedBlocks{edges}, plan);
      EXPECT_EQ(receive, std::vector<double>(receive.size(), 3.0 * call));
    }
  });
}

TEST(PairwiseCells, CarryReduceScatter) {
  const auto call = [](auto& m, const Plan& plan) {
    const std::vector<double> send(3 * 100, 1.0);
    std::vector<double> receive(100);
    const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
    reduce_scatter(m, {send.data(), receive.data(), 2400, sum}, EqualBlocks{800}, plan);
    EXPECT_EQ(receive, std::vector<double>(100, 3.0));
  };
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::central, call), one_round);
  EXPECT_EQ(cells_of(Ranks(n), Algorithm::central, call), 0);
}

TEST(PairwiseCells, CarryAllreduceAndItsAnswers) {
  const auto call = [](auto& m, const Plan& plan) {
    const std::vector<double> send(1000, 1.0);
    std::vector<double> receive(1000);
    const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
    allreduce_sliced(m, {send.data(), receive.data(), 8000, sum}, plan);
    EXPECT_EQ(receive, std::vector<double>(1000, 3.0));
  };
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::sliced, call), 2 * one_round);
  EXPECT_EQ(cells_of(Ranks(n), Algorithm::sliced, call), 0);
}

// Each rank decides for what it sends: here one has long blocks, the others short ones.
TEST(PairwiseCells, CarryTheLongBlocksOfAnAlltoallv) {
  const auto call = [](auto& m, const Plan& plan) {
    const auto bytes_of = [](int from) { return from == 1 ? std::size_t{6000} : std::size_t{100}; };
    const Spread out(n, 0, [&](int) { return bytes_of(m.rank()); }), in(n, 0, bytes_of);
    Bytes send(out.end, untouched), wanted(in.end, untouched), got = wanted;
    for (int r = 0; r < n; ++r) {
      out.put(send, r, block_of(m.rank(), r, bytes_of(m.rank()), 0));
      in.put(wanted, r, block_of(r, m.rank(), bytes_of(r), 0));
    }
    for (int round = 0; round < 5; ++round) {
      std::fill(got.begin(), got.end(), untouched);
      alltoallv(m, send.data(), out.blocks(), got.data(), in.blocks(), plan);
      expect_same(got, wanted, "alltoallv", m, in.end);
    }
  };
  EXPECT_EQ(cells_of(Ranks::pairwise(n), Algorithm::central, call), 5 * 2 * (n - 1));
}

// The largest slice of every chunk fits.
TEST(PairwiseSlices, FitInTheirCells) {
  Ranks ranks = Ranks::pairwise(n);
  const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
  for (const std::size_t bytes : {8u, 800u, 24576u, 24584u, 100000u}) {
    const Reduction r{nullptr, nullptr, bytes, sum};
    const PairwiseSlices slices(ranks.machine(0), r);
    ASSERT_TRUE(slices.serve());
    std::size_t covered = 0;
    for (std::size_t i = 0; i < slices.chunks(); ++i)
      for (int rank = 0; rank < n; ++rank) {
        const detail::Slice slice = detail::slice_of(ranks.machine(0), slices.chunk(i), rank, r);
        EXPECT_LE(slice.bytes, cell);
        covered += slice.bytes;
      }
    EXPECT_EQ(covered, bytes);
    EXPECT_LE(slices.chunk(0).bytes, bytes / slices.chunks() + n * 64) << "the last is not much shorter";
  }
}

}  // namespace
}  // namespace espalier::collective
