// Sums of arrays without rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "espalier/espalier_exact.h"
#include "tests/capi/seat.hpp"
#include "tests/runtime/processes.hpp"

namespace exact_sums {

using espalier::testing::Board;
using espalier::testing::gather_on_board;
using espalier::testing::run_ranks;
using espalier::testing::Seat;

/// Numbers whose plain sum depends on their order; the right one is 1000.5.
std::vector<double> numbers() {
  std::vector<double> all = {1e308, 1e308, 1000, 1e-300, 0.5, -1e308, -1e308, -1e-300};
  for (int i = 0; i < 5000; ++i) {
    const double some = std::ldexp(1.0 + i / 4096.0, i % 600 - 300);
    all.push_back(some);
    all.insert(all.begin(), -some);
  }
  return all;
}

TEST(ExactSums, AreTheSameInAnyGrouping) {
  const std::vector<double> all = numbers();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, all.size()}) {
    espalier_exact sum = {{0}}, other = {{0}};
    for (std::size_t first = 0; first < all.size(); first += piece) {
      espalier_exact* const to = first / piece % 2 ? &other : &sum;
      ASSERT_EQ(espalier_exact_add(to, &all[first], std::min(piece, all.size() - first), ESPALIER_DOUBLE),
                ESPALIER_OK);
    }
    ASSERT_EQ(espalier_exact_merge(&sum, &other), ESPALIER_OK);
    EXPECT_EQ(espalier_exact_double(&sum), 1000.5) << piece;
    EXPECT_EQ(espalier_exact_float(&sum), 1000.5f) << piece;
  }
}

TEST(ExactSums, OverRanksDoNotDependOnTheDivision) {
  for (const int ranks : {1, 2, 3, 5}) {
    const std::vector<double> all = numbers();
    std::vector<std::complex<double>> pairs;
    for (const double each : all) pairs.emplace_back(each, -each);
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      Seat seat{&board, rank};
      espalier_comm* comm = nullptr;
      ASSERT_EQ(espalier_comm_create(rank, ranks, gather_on_board, &seat, &comm), ESPALIER_OK)
          << espalier_error_text();
      // Of different lengths: each rank but the last has a tenth.
      const std::size_t first = all.size() / 10 * static_cast<std::size_t>(rank);
      const std::size_t count = rank + 1 == ranks ? all.size() - first : all.size() / 10;
      double real = 0;
      std::complex<double> pair;
      EXPECT_EQ(espalier_exact_sum(comm, &all[first], count, ESPALIER_DOUBLE, &real), ESPALIER_OK);
      EXPECT_EQ(espalier_exact_sum(comm, &pairs[first], count, ESPALIER_DOUBLE_COMPLEX, &pair), ESPALIER_OK);
      EXPECT_EQ(real, 1000.5);
      EXPECT_EQ(pair, std::complex<double>(1000.5, -1000.5));
      espalier_comm_free(comm);
    });
  }
}

TEST(ExactSums, MistakesAreSaid) {
  espalier_exact sum = {{0}};
  const double value = 1;
  EXPECT_EQ(espalier_exact_add(nullptr, &value, 1, ESPALIER_DOUBLE), ESPALIER_ERR_ARGUMENT);
  EXPECT_EQ(espalier_exact_add(&sum, nullptr, 1, ESPALIER_DOUBLE), ESPALIER_ERR_ARGUMENT);
  EXPECT_EQ(espalier_exact_add(&sum, &value, 1, ESPALIER_INT32), ESPALIER_ERR_ARGUMENT);
  EXPECT_STREQ(espalier_error_text(), "there are no exact sums of int32");
  EXPECT_EQ(espalier_exact_add(&sum, nullptr, 0, ESPALIER_DOUBLE), ESPALIER_OK);
  EXPECT_EQ(espalier_exact_double(&sum), 0);
}

}  // namespace exact_sums
