// The kernels of exact sums, in every instruction set, against sums in integers.
#include <gtest/gtest.h>

#include <cfenv>
#include <complex>
#include <cstdint>
#include <cstring>

#include "reduce/isa.hpp"
#include "reduce/reproducible.hpp"
#include "tests/full.hpp"
#include "tests/reduce/exact/operands.hpp"
#include "tests/reduce/exact/reference.hpp"
#include "tests/reduce/isas.hpp"

namespace {

using namespace espalier::reduce;
using exact_reference::bits_of;

template <class T>
Kernel kernel_of(Isa isa) {
  return detail::table(isa)->exact_sums[sizeof(T) == 4 ? 0 : 1];
}

// `columns[i]`: the operands of element i. Returns the elements, computed from vectors that may be misaligned;
// target: the source that is the target, or -1.
template <class T>
std::vector<T> computed(Kernel kernel, const std::vector<std::vector<T>>& columns, int target = -1,
                        std::size_t shift = 0) {
  const std::size_t sources = columns[0].size(), elements = columns.size();
  std::vector<std::vector<unsigned char>> vectors(sources + 1,
                                                  std::vector<unsigned char>(elements * sizeof(T) + shift));
  std::vector<const void*> places;
  for (std::size_t k = 0; k < sources; ++k) {
    for (std::size_t i = 0; i < elements; ++i)
      std::memcpy(vectors[k].data() + shift + i * sizeof(T), &columns[i][k], sizeof(T));
    places.push_back(vectors[k].data() + shift);
  }
  unsigned char* const to = vectors[target < 0 ? sources : static_cast<std::size_t>(target)].data() + shift;
  kernel(to, places.data(), static_cast<int>(sources), elements);
  std::vector<T> result(elements);
  std::memcpy(result.data(), to, elements * sizeof(T));
  return result;
}

template <class T>
void check_all_kinds(std::size_t sources, std::size_t elements, unsigned seed) {
  exact_operands::Source<T> source(seed);
  std::vector<std::vector<T>> columns;
  for (std::size_t i = 0; i < elements; ++i)
    columns.push_back(source.make(static_cast<int>(i % exact_operands::Source<T>::kinds), sources));
  for (const Isa isa : usable_isas())
    for (const int target : {-1, 0, static_cast<int>(sources) - 1}) {
      const std::vector<T> results = computed(kernel_of<T>(isa), columns, target, seed % 9);
      for (std::size_t i = 0; i < elements; ++i)
        ASSERT_EQ(bits_of(results[i]), bits_of(exact_reference::sum(columns[i])))
            << "set " << static_cast<int>(isa) << ", sources " << sources << ", kind "
            << i % exact_operands::Source<T>::kinds << ", element " << i << ", seed " << seed;
    }
}

TEST(ExactSums, AreRoundedOnce) {
  for (const std::size_t sources : {2u, 3u, 4u, 5u, 8u, 16u, 33u})
    for (unsigned seed = 0; seed < (espalier::testing::full() ? 200u : 6u); ++seed) {
      check_all_kinds<double>(sources, 180, seed);
      check_all_kinds<float>(sources, 180, seed);
    }
}

TEST(ExactSums, OfManySources) {
  check_all_kinds<double>(3000, 18, 1);
  check_all_kinds<float>(3000, 18, 2);
}

template <class T>
T sum_of(std::vector<T> operands) {
  return computed<T>(kernel_of<T>(Isa::baseline), {operands})[0];
}

TEST(ExactSums, SpecialValues) {
  constexpr double most = std::numeric_limits<double>::max(), infinity = HUGE_VAL, tiny = 0x1p-1074;
  EXPECT_EQ(sum_of<double>({most, most, -most}), most);  // the sum of two is too large, that of all is not
  EXPECT_EQ(sum_of<double>({most, 0x1p969}), most);
  EXPECT_EQ(sum_of<double>({most, 0x1p970}), infinity);
  EXPECT_EQ(sum_of<double>({most, 0x1p970, -tiny}), most);
  EXPECT_EQ(sum_of<double>({most, most, -infinity}), -infinity);
  EXPECT_EQ(bits_of(sum_of<double>({infinity, -infinity})), 0x7ff8000000000000u);
  EXPECT_EQ(bits_of(sum_of<double>({-std::nan("7"), 1})), 0x7ff8000000000000u);
  EXPECT_EQ(bits_of(sum_of<double>({-0.0, -0.0, -0.0})), std::uint64_t{1} << 63);
  EXPECT_EQ(bits_of(sum_of<double>({-0.0, 0.0})), 0u);
  EXPECT_EQ(bits_of(sum_of<double>({1, -1, -0.0})), 0u);
  EXPECT_EQ(sum_of<double>({1, 0x1p-53, tiny}), 1 + 0x1p-52);
  EXPECT_EQ(sum_of<double>({1, 0x1p-53, -tiny}), 1);
  EXPECT_EQ(sum_of<float>({1, 0x1p-24f, 0x1p-149f}), 1 + 0x1p-23f);
  EXPECT_EQ(sum_of<float>({0x1.fffffep127f, 0x1.fffffep127f, -0x1.fffffep127f}), 0x1.fffffep127f);
}

// Rounded to double first, the sum would be a tie of floats.
TEST(ExactSums, OfFloatsAreNotRoundedTwice) {
  EXPECT_EQ(sum_of<float>({1, 0x1p-24f, 0x1p-80f}), 1 + 0x1p-23f);
  EXPECT_EQ(sum_of<float>({1, 0x1p-24f, -0x1p-80f}), 1);
}

TEST(ExactSums, DoNotDependOnTheProgramsRounding) {
  exact_operands::Source<double> source(5);
  std::vector<std::vector<double>> columns;
  for (int i = 0; i < 90; ++i) columns.push_back(source.make(i % 7, 7));
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (const Isa isa : usable_isas()) {
      ASSERT_EQ(std::fesetround(mode), 0);
      const auto results = computed(kernel_of<double>(isa), columns);
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      for (std::size_t i = 0; i < columns.size(); ++i)
        ASSERT_EQ(bits_of(results[i]), bits_of(exact_reference::sum(columns[i])));
    }
  }
}

TEST(Reproducible, OperationsByLevel) {
  using enum Reproducibility;
  for (std::size_t o = 0; o < op_count; ++o)
    for (std::size_t t = 0; t < type_count; ++t) {
      const auto op = static_cast<Op>(o);
      const auto type = static_cast<Type>(t);
      const Operation* const plain = find(op, type);
      EXPECT_EQ(find(op, type, run), plain);
      for (const Reproducibility level : {placement, exact}) {
        const Operation* const found = find(op, type, level);
        ASSERT_EQ(found == nullptr, plain == nullptr);
        if (!plain) continue;
        EXPECT_EQ(found->at_once, !folds_in_any_order(*plain));
        EXPECT_EQ(found->code, plain->code);
        EXPECT_EQ(found->extent, plain->extent);
        EXPECT_EQ(found->kernel != plain->kernel, is_exact(op, type, level));
      }
    }
  EXPECT_TRUE(is_exact(Op::sum, Type::complex128, exact));
  EXPECT_FALSE(is_exact(Op::sum, Type::float_extended, exact));
  EXPECT_FALSE(is_exact(Op::sum, Type::float64, placement));
}

TEST(Reproducible, ComplexSumsAreExactInBothParts) {
  using Complex = std::complex<double>;
  const Complex a[] = {{1e300, 1}, {0, 0}}, b[] = {{1, 1e300}, {-0.0, 1}}, c[] = {{-1e300, -1e300}, {2, -1}};
  const void* const sources[] = {a, b, c};
  Complex result[2];
  find(Op::sum, Type::complex128, Reproducibility::exact)->kernel(result, sources, 3, 2);
  EXPECT_EQ(result[0], Complex(1, 1));
  EXPECT_EQ(result[1], Complex(2, 0));
}

}  // namespace
