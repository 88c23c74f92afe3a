#include "collective/traded_cells.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "collective/allreduce_sliced.hpp"
#include "collective/alltoall.hpp"
#include "collective/alltoallv.hpp"
#include "collective/reduce_scatter.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

using machine::HostMachine;
using plan::Algorithm;
using namespace testing;

/// Counts the cells that are asked for, to see which way a call goes.
struct Watching : HostMachine {
  Watching(const HostMachine& m, std::atomic<int>& asked) : HostMachine(m), count(&asked) {}
  std::byte* traded_cell(int writer, int reader, machine::Step step) {
    ++*count;
    return HostMachine::traded_cell(writer, reader, step);
  }
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
  ranks.run([&](HostMachine& m) {
    Watching watching(m, cells);
    body(watching, plan);
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

TEST(TradedCells, CarryAlltoall) {
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::central, alltoall_of(1000)), one_round);
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::central, alltoall_of(cell)), one_round);
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::central, alltoall_of(cell + 1)), 2 * one_round);
}

TEST(TradedCells, AreLeftAloneByRanksThatDoNotMeetOrDoNotTrade) {
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::exchange, alltoall_of(1000)), 0);
  EXPECT_EQ(cells_of(Ranks(n), Algorithm::central, alltoall_of(1000)), 0);
}

TEST(TradedCells, AreNotForBlocksShorterThanALine) {
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::central, alltoall_of(63)), 0);
}

// Fewer slots, shorter cells: then the slots, which hold two blocks of more than a cell, take fewer rounds.
TEST(TradedCells, AreNotForCallsThatWouldTakeMoreRounds) {
  EXPECT_EQ(cells_of(Ranks::trading(n, 4), Algorithm::central, alltoall_of(4096)), one_round);
  EXPECT_EQ(cells_of(Ranks::trading(n, 4), Algorithm::central, alltoall_of(5000)), 0);
}

TEST(TradedCells, CarryReduceScatter) {
  const auto call = [](auto& m, const Plan& plan) {
    const std::vector<double> send(3 * 100, 1.0);
    std::vector<double> receive(100);
    const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
    reduce_scatter(m, {send.data(), receive.data(), 2400, sum}, EqualBlocks{800}, plan);
    EXPECT_EQ(receive, std::vector<double>(100, 3.0));
  };
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::central, call), one_round);
  EXPECT_EQ(cells_of(Ranks(n), Algorithm::central, call), 0);
}

TEST(TradedCells, CarryAllreduceAndItsAnswers) {
  const auto call = [](auto& m, const Plan& plan) {
    const std::vector<double> send(1000, 1.0);
    std::vector<double> receive(1000);
    const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
    allreduce_sliced(m, {send.data(), receive.data(), 8000, sum}, plan);
    EXPECT_EQ(receive, std::vector<double>(1000, 3.0));
  };
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::sliced, call), 2 * one_round);
  EXPECT_EQ(cells_of(Ranks(n), Algorithm::sliced, call), 0);
}

// Each rank decides for what it sends: here one has long blocks, the others short ones.
TEST(TradedCells, CarryTheLongBlocksOfAnAlltoallv) {
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
  EXPECT_EQ(cells_of(Ranks::trading(n), Algorithm::central, call), 5 * 2 * (n - 1));
}

// The largest slice of every chunk fits.
TEST(TradedSlices, FitInTheirCells) {
  Ranks ranks = Ranks::trading(n);
  const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
  for (const std::size_t bytes : {8u, 800u, 24576u, 24584u, 100000u}) {
    const Reduction r{nullptr, nullptr, bytes, sum};
    const TradedSlices slices(ranks.machine(0), r);
    ASSERT_TRUE(slices.serve());
    std::size_t covered = 0;
    for (std::size_t i = 0; i < slices.chunks(); ++i)
      for (int rank = 0; rank < n; ++rank) {
        const detail::Slice slice = detail::slice_of(ranks.machine(0), slices.chunk(i), rank, r);
        EXPECT_LE(slice.bytes, cell);
        covered += slice.bytes;
      }
    EXPECT_EQ(covered, bytes);
  }
}

}  // namespace
}  // namespace espalier::collective
