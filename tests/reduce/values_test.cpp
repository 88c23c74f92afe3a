// Chosen operands with results written out by hand, and the facts about types and names.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "reduce/names.hpp"

namespace {

using namespace espalier::reduce;

template <class T>
T reduce_two(Op op, Type type, T a, T b) {
  T result{};
  const void* const sources[] = {&a, &b};
  find(op, type)->kernel(&result, sources, 2, 1);
  return result;
}

TEST(Values, SignedIntegersWrapAround) {
  EXPECT_EQ(reduce_two<std::int32_t>(Op::sum, Type::int32, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(reduce_two<std::int64_t>(Op::sum, Type::int64, INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ(reduce_two<std::int8_t>(Op::sum, Type::int8, 127, 1), -128);
  EXPECT_EQ(reduce_two<std::int32_t>(Op::prod, Type::int32, 65536, 65536), 0);
  EXPECT_EQ(reduce_two<std::int16_t>(Op::prod, Type::int16, 300, 300), 24464);
  EXPECT_EQ(reduce_two<std::uint16_t>(Op::prod, Type::uint16, 65535, 65535), 1);
}

TEST(Values, SignMattersToMaxAlone) {
  EXPECT_EQ(reduce_two<std::int8_t>(Op::max, Type::int8, -1, 1), 1);
  EXPECT_EQ(reduce_two<std::uint8_t>(Op::max, Type::uint8, 255, 1), 255);
}

TEST(Values, NotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(reduce_two(Op::max, Type::float32, nan, 1.0f), 1.0f);
  EXPECT_TRUE(std::isnan(reduce_two(Op::max, Type::float32, 1.0f, nan)));
  EXPECT_EQ(reduce_two(Op::min, Type::float32, nan, 1.0f), 1.0f);
  EXPECT_TRUE(std::isnan(reduce_two(Op::min, Type::float32, 1.0f, nan)));
  for (const float other : {-nan, std::nanf("0x1234"), 1.0f, nan}) {
    const float sum = reduce_two(Op::sum, Type::float32, -nan, other);
    std::uint32_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    EXPECT_EQ(bits, 0x7fc00000u);
  }
}

TEST(Values, ZerosOfDifferentSign) {
  EXPECT_FALSE(std::signbit(reduce_two(Op::max, Type::float64, -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(reduce_two(Op::max, Type::float64, 0.0, -0.0)));
  EXPECT_TRUE(std::signbit(reduce_two(Op::sum, Type::float64, -0.0, -0.0)));
  EXPECT_FALSE(std::signbit(reduce_two(Op::sum, Type::float64, -0.0, 0.0)));
}

TEST(Values, SumsRunFromLeftToRight) {
  const double terms[] = {1e16, 1.0, -1e16, 1.0, 1.0, 1e-3};
  double result = 0;
  std::vector<const void*> sources;
  for (const double& term : terms) sources.push_back(&term);
  find(Op::sum, Type::float64)->kernel(&result, sources.data(), 6, 1);
  EXPECT_EQ(result, 2.001);  // 1e16 + 1 is 1e16
}

// All bit patterns of both operands that matter to rounding are in kernels_test; here what a reader can check.
TEST(Values, NarrowFloatsRoundOnceToNearestEven) {
  using Words = std::vector<std::uint16_t>;
  const auto sum = [](Type type, const Words& terms) {
    std::uint16_t result = 0;
    std::vector<const void*> sources;
    for (const std::uint16_t& term : terms) sources.push_back(&term);
    find(Op::sum, type)->kernel(&result, sources.data(), static_cast<int>(terms.size()), 1);
    return result;
  };
  constexpr auto brain = Type::bfloat16;
  EXPECT_EQ(sum(brain, {0x3f80, 0x3b80}), 0x3f80) << "1 + 2^-8: the tie goes to the even one below";
  EXPECT_EQ(sum(brain, {0x3f81, 0x3b80}), 0x3f82) << "and here to the one above";
  EXPECT_EQ(sum(brain, {0x3f80, 0x3b81}), 0x3f81) << "just above the tie";
  EXPECT_EQ(sum(brain, {0x7f7f, 0x7f7f}), 0x7f80) << "the largest twice is infinite";
  EXPECT_EQ(sum(brain, {0x7f7f, 0x7b00}), 0x7f80) << "half a unit above the largest rounds to infinity";
  EXPECT_EQ(sum(brain, {0x0001, 0x0001}), 0x0002) << "subnormals are numbers";
  EXPECT_EQ(sum(brain, {0x7f80, 0xff80}), 0x7fc0) << "the one NaN";
  EXPECT_EQ(sum(brain, {0xff81, 0x3f80}), 0x7fc0);
  EXPECT_EQ(sum(brain, Words(12, 0x3f80)), 0x4140) << "more sources than one pass takes";
  // 256 + 1 is 256 in bfloat16, 2048 + 1 is 2048 in half precision: a sum that rounds each time loses the ones.
  EXPECT_EQ(sum(brain, {0x4380, 0x3f80, 0x3f80, 0x3f80, 0x3f80}), 0x4382);
  Words many(17, 0x3f80);
  many[0] = 0x4380;
  EXPECT_EQ(sum(brain, many), 0x4388) << "256 + 16, over three passes";
  if (!find(Op::sum, Type::float16)) return;
  EXPECT_EQ(sum(Type::float16, {0x6800, 0x3c00, 0x3c00}), 0x6801);
  EXPECT_EQ(sum(Type::float16, {0x0001, 0x0001}), 0x0002);
  EXPECT_EQ(sum(Type::float16, {0x7bff, 0x4c00}), 0x7c00) << "65504 + 16 is infinite";
  many.assign(17, 0x3c00);
  many[0] = 0x6800;
  EXPECT_EQ(sum(Type::float16, many), 0x6808) << "2048 + 16, over three passes";
}

TEST(Values, ComplexProductIsPlain) {
  struct C {
    double re, im;
  };
  const C product = reduce_two<C>(Op::prod, Type::complex128, {1, 2}, {3, 4});
  EXPECT_EQ(product.re, -5);
  EXPECT_EQ(product.im, 10);
  // With a fused multiply-add the real part would be the rounding error of one product.
  const double third = 1.0 / 3.0;
  EXPECT_EQ(reduce_two<C>(Op::prod, Type::complex128, {third, third}, {third, third}).re, 0.0);
  // C's own operator would make an infinity of this.
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(reduce_two<C>(Op::prod, Type::complex128, {infinity, infinity}, {1, 1}).re));
}

TEST(Values, LogicalResultsAreZeroOrOne) {
  EXPECT_EQ(reduce_two<std::int32_t>(Op::land, Type::logical32, -1, 2), 1);
  EXPECT_EQ(reduce_two<std::int32_t>(Op::lor, Type::logical32, 0, 4), 1);
  EXPECT_EQ(reduce_two<std::int32_t>(Op::lxor, Type::logical32, 2, 4), 0);
  EXPECT_EQ(reduce_two<std::int64_t>(Op::land, Type::int64, INT64_MIN, 256), 1);
  EXPECT_EQ(reduce_two<std::uint8_t>(Op::lxor, Type::boolean, 1, 0), 1);
}

TEST(Values, LocationsOfEqualValues) {
  struct P {
    double value;
    int index;
  };
  EXPECT_EQ(reduce_two<P>(Op::maxloc, Type::double_int, {2, 7}, {2, 3}).index, 3);
  EXPECT_EQ(reduce_two<P>(Op::minloc, Type::double_int, {2, 3}, {2, 7}).index, 3);
  EXPECT_EQ(reduce_two<P>(Op::maxloc, Type::double_int, {2, 7}, {1, 3}).index, 7);
  EXPECT_EQ(reduce_two<P>(Op::minloc, Type::double_int, {2, 7}, {1, 9}).index, 9);
}

TEST(Types, SizesOfPairs) {
  EXPECT_EQ(extent(Type::double_int), 16u);
  EXPECT_EQ(packed_size(Type::double_int), 12u);
  EXPECT_EQ(extent(Type::short_int), 8u);
  EXPECT_EQ(packed_size(Type::short_int), 6u);
  EXPECT_EQ(packed_size(Type::long_double_int), sizeof(long double) + sizeof(int));
  EXPECT_EQ(extent(Type::int_int), packed_size(Type::int_int));
  EXPECT_EQ(extent(Type::none), 0u);
  EXPECT_EQ(packed_size(static_cast<Type>(200)), 0u);
}

TEST(Types, WhatIsNoOperationIsNotFound) {
  EXPECT_EQ(find(Op::none, Type::int32), nullptr);
  EXPECT_EQ(find(Op::sum, Type::none), nullptr);
  EXPECT_EQ(find(static_cast<Op>(99), static_cast<Type>(99)), nullptr);
}

TEST(Names, PrintAndParse) {
  for (std::size_t o = 0; o < op_count; ++o)
    EXPECT_EQ(parse_op(to_string(static_cast<Op>(o))), static_cast<Op>(o));
  for (std::size_t t = 0; t < type_count; ++t)
    EXPECT_EQ(parse_type(to_string(static_cast<Type>(t))), static_cast<Type>(t));
  EXPECT_EQ(to_string(Op::minloc), "minloc");
  EXPECT_EQ(to_string(Type::long_double_int), "long_double_int");
  EXPECT_EQ(to_string(Type::byte), "byte");
  EXPECT_EQ(to_string(Op::none), "none");
  EXPECT_EQ(parse_op("none"), std::nullopt);
  EXPECT_EQ(parse_type("Float32"), std::nullopt);
  EXPECT_EQ(parse_type(""), std::nullopt);
}

}  // namespace
