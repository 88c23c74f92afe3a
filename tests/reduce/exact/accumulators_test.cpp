// Long accumulators, and arrays that are added to them, against sums in integers.
#include <gtest/gtest.h>

#include <cstring>

#include "reduce/arrays/exact_sums.hpp"
#include "tests/full.hpp"
#include "tests/reduce/exact/operands.hpp"
#include "tests/reduce/exact/reference.hpp"
#include "tests/reduce/isas.hpp"

namespace {

using namespace espalier::reduce;
using exact::Accumulator;
using exact_reference::bits_of;

double value_of(const Accumulator& sum, double) { return exact::to_double(sum); }
float value_of(const Accumulator& sum, float) { return exact::to_float(sum); }

template <class T>
constexpr Type type_of = sizeof(T) == 4 ? Type::float32 : Type::float64;

TEST(Accumulator, OfNothingIsZero) {
  const Accumulator sum{};
  EXPECT_EQ(bits_of(exact::to_double(sum)), 0u);
  EXPECT_EQ(bits_of(exact::to_float(sum)), 0u);
}

template <class T>
void check_one_by_one(int kind, std::size_t count, unsigned seed) {
  const std::vector<T> operands = exact_operands::Source<T>(seed).make(kind, count);
  Accumulator sum{};
  for (const T operand : operands) exact::add(sum, static_cast<double>(operand));
  ASSERT_EQ(bits_of(value_of(sum, T{})), bits_of(exact_reference::sum(operands)))
      << "kind " << kind << ", count " << count << ", seed " << seed;
}

TEST(Accumulator, IsRoundedOnce) {
  for (int kind = 0; kind < exact_operands::Source<double>::kinds; ++kind)
    for (const std::size_t count : {1u, 2u, 3u, 10u, 5000u})
      for (unsigned seed = 0; seed < (espalier::testing::full() ? 100u : 8u); ++seed) {
        check_one_by_one<double>(kind, count, seed);
        check_one_by_one<float>(kind, count, seed);
      }
}

// The same operands in parts, whose accumulators are added: as a whole, and word by word.
TEST(Accumulator, PartsAddUpInAnyGrouping) {
  for (int kind = 0; kind < exact_operands::Source<double>::kinds; ++kind) {
    const auto operands = exact_operands::Source<double>(static_cast<unsigned>(kind)).make(kind, 700);
    Accumulator whole{}, words{};
    for (std::size_t first = 0; first < operands.size(); first += 70) {
      Accumulator part{};
      exact::add(&part, Type::float64, operands.data() + first, 70);
      exact::add(whole, part);
      exact::propagate(part);
      std::int64_t to[sizeof(Accumulator) / 8], from[sizeof(Accumulator) / 8];
      std::memcpy(to, &words, sizeof to);
      std::memcpy(from, &part, sizeof from);
      for (std::size_t i = 0; i < std::size(to); ++i) to[i] += from[i];
      std::memcpy(&words, to, sizeof to);
    }
    const std::uint64_t right = bits_of(exact_reference::sum(operands));
    EXPECT_EQ(bits_of(exact::to_double(whole)), right) << kind;
    EXPECT_EQ(bits_of(exact::to_double(words)), right) << kind;
  }
}

template <class T>
void check_array(Isa isa, int kind, std::size_t count, unsigned seed) {
  const std::vector<T> operands = exact_operands::Source<T>(seed).make(kind, count);
  std::vector<unsigned char> bytes(count * sizeof(T) + 7);  // of any alignment
  unsigned char* const values = bytes.data() + seed % 8;
  std::memcpy(values, operands.data(), count * sizeof(T));
  Accumulator sum{};
  exact::add(&sum, type_of<T>, values, count, isa);
  ASSERT_EQ(bits_of(value_of(sum, T{})), bits_of(exact_reference::sum(operands)))
      << "set " << static_cast<int>(isa) << ", kind " << kind << ", count " << count << ", seed " << seed;
}

TEST(Arrays, AreAddedExactly) {
  for (const Isa isa : usable_isas())
    for (int kind = 0; kind < exact_operands::Source<double>::kinds; ++kind)
      for (const std::size_t count : {1u, 2u, 7u, 31u, 1023u, 1024u, 1025u, 5001u})
        for (unsigned seed = 0; seed < (espalier::testing::full() ? 40u : 3u); ++seed) {
          check_array<double>(isa, kind, count, seed);
          check_array<float>(isa, kind, count, seed);
        }
}

// Exponents that are nearer to each other than those of all numbers are: all numbers of parts are tried.
TEST(Arrays, OfMiddlingRanges) {
  std::mt19937 random(3);
  for (const int range : {10, 30, 45, 80, 120, 200})
    for (const Isa isa : usable_isas()) {
      std::vector<double> operands(3000);
      for (double& each : operands)
        each = std::ldexp(std::uniform_real_distribution<>(-1, 1)(random),
                          static_cast<int>(random() % static_cast<unsigned>(range)));
      Accumulator sum{};
      exact::add(&sum, Type::float64, operands.data(), operands.size(), isa);
      EXPECT_EQ(exact::to_double(sum), exact_reference::sum(operands)) << range;
    }
}

TEST(Arrays, OfComplexNumbers) {
  const float values[] = {1e30f, -0.0f, 1, -0.0f, -1e30f, -0.0f};
  for (const Isa isa : usable_isas()) {
    Accumulator sums[2] = {};
    exact::add(sums, Type::complex64, values, 3, isa);
    EXPECT_EQ(exact::to_float(sums[0]), 1);
    EXPECT_EQ(bits_of(exact::to_float(sums[1])), bits_of(-0.0f));
  }
  EXPECT_EQ(exact::parts_of(Type::complex64), 2);
  EXPECT_EQ(exact::parts_of(Type::float_extended), 0);
}

}  // namespace
