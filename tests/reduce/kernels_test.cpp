// Every operator on every type, in every instruction set, against the reference.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "reduce/isa.hpp"
#include "reduce/names.hpp"
#include "tests/reduce/isas.hpp"
#include "tests/reduce/samples.hpp"

namespace {

using namespace espalier::reduce;

// Elements at an address of any alignment, between guard bytes.
template <class T>
class Array {
 public:
  Array(std::size_t count, std::size_t shift)
      : bytes_(count * sizeof(T) + 2 * guard + 64, 0xa5), count_(count) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data()) + guard;
    first_ = guard + (64 - address % 64) % 64 + shift % guard;
  }
  void* data() { return bytes_.data() + first_; }
  T get(std::size_t i) const {
    T element;
    std::memcpy(&element, bytes_.data() + first_ + i * sizeof(T), sizeof(T));
    return element;
  }
  // Value bytes alone, so that padding keeps the guard pattern.
  void set(std::size_t i, const T& element) { put(first_ + i * sizeof(T), element); }
  bool guards_intact() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if ((i < first_ || i >= first_ + count_ * sizeof(T)) && bytes_[i] != 0xa5) return false;
    return true;
  }
  bool padding_intact() const {
    for (std::size_t i = 0; i < count_; ++i)
      if (!padding_intact(bytes_.data() + first_ + i * sizeof(T), static_cast<T*>(nullptr))) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 64;
  template <class U>
  void put(std::size_t at, const U& element) {
    std::memcpy(bytes_.data() + at, &element, samples::value_bytes<U>);
  }
  template <class U>
  void put(std::size_t at, const reference::Cplx<U>& element) {
    put(at, element.re);
    put(at + sizeof(U), element.im);
  }
  template <class V, class I>
  void put(std::size_t at, const reference::Located<V, I>& element) {
    using Pair = reference::Located<V, I>;
    put(at, element.value);
    put(at + offsetof(Pair, index), element.index);
  }
  template <class U>
  static bool padding_intact(const unsigned char*, U*) {
    return true;
  }
  template <class V, class I>
  static bool padding_intact(const unsigned char* bytes, reference::Located<V, I>*) {
    using Pair = reference::Located<V, I>;
    for (std::size_t i = 0; i < sizeof(Pair); ++i) {
      const bool value = i < samples::value_bytes<V>;
      const bool index = i >= offsetof(Pair, index) && i < offsetof(Pair, index) + sizeof(I);
      if (!value && !index && bytes[i] != 0xa5) return false;
    }
    return true;
  }
  std::vector<unsigned char> bytes_;
  std::size_t count_, first_ = 0;
};

struct Case {
  Isa isa;
  Op op;
  Type type;
  int sources;
  std::size_t elements;
  std::size_t shift = 0;  // misalignment
  int target = -1;        // the source that is the target, or -1
};

std::string describe(const Case& c) {
  return std::string(to_string(c.op)) + " " + std::string(to_string(c.type)) + ", set " +
         std::to_string(static_cast<int>(c.isa)) + ", sources " + std::to_string(c.sources) + ", elements " +
         std::to_string(c.elements) + ", shift " + std::to_string(c.shift) + ", target " +
         std::to_string(c.target);
}

template <class T>
T expected(Op op, const std::vector<Array<T>>& sources, std::size_t i) {
  if constexpr (reference::is_narrow<T>) {
    if ((op == Op::sum || op == Op::prod) && sources.size() > 1) {
      auto wide = static_cast<float>(sources[0].get(i));
      for (std::size_t k = 1; k < sources.size(); ++k)
        wide = *reference::apply(op, wide, static_cast<float>(sources[k].get(i)));
      return reference::rounded<T>(wide);
    }
  }
  T result = sources[0].get(i);
  for (std::size_t k = 1; k < sources.size(); ++k) result = *reference::apply(op, result, sources[k].get(i));
  return result;
}

template <class T>
void run(const Case& c, samples::Random& random) {
  const Operation* const operation = detail::find(c.isa, c.op, c.type);
  ASSERT_NE(operation, nullptr) << describe(c);
  std::vector<Array<T>> sources;
  for (int k = 0; k < c.sources; ++k) {
    sources.emplace_back(c.elements, c.shift * static_cast<std::size_t>(k + 1));
    for (std::size_t i = 0; i < c.elements; ++i)
      sources.back().set(i, samples::sample(random, static_cast<T*>(nullptr)));
  }
  const std::vector<Array<T>> kept =
      sources;  // Array's alignment may differ in the copy; its elements do not
  Array<T> fresh(c.elements, c.shift);
  Array<T>& target = c.target < 0 ? fresh : sources[static_cast<std::size_t>(c.target)];
  std::vector<const void*> pointers;
  for (Array<T>& source : sources) pointers.push_back(source.data());
  operation->kernel(target.data(), pointers.data(), c.sources, c.elements);
  for (std::size_t i = 0; i < c.elements; ++i)
    ASSERT_TRUE(samples::same_bits(target.get(i), expected(c.op, kept, i)))
        << describe(c) << ", element " << i;
  ASSERT_TRUE(target.guards_intact()) << describe(c);
  ASSERT_TRUE(target.padding_intact()) << describe(c);
  for (int k = 0; k < c.sources; ++k)
    for (std::size_t i = 0; i < c.elements && k != c.target; ++i)
      ASSERT_TRUE(samples::same_bits(sources[static_cast<std::size_t>(k)].get(i),
                                     kept[static_cast<std::size_t>(k)].get(i)))
          << describe(c) << ": source " << k << " was written";
}

void run(const Case& c, samples::Random& random) {
  reference::with_type(c.type, [&](auto element) { run<decltype(element)>(c, random); });
}

class EachType : public testing::TestWithParam<Type> {
 protected:
  template <class Body>
  void for_each_operation(Body body) {
    for (const Isa isa : usable_isas())
      for (std::size_t o = 0; o < op_count; ++o)
        if (detail::find(isa, static_cast<Op>(o), GetParam())) {
          body(Case{isa, static_cast<Op>(o), GetParam(), 2, 0});
          if (HasFatalFailure()) return;
        }
  }
  samples::Random random{20240607};
};

TEST_P(EachType, IsDefinedForTheOperatorsOfTheStandard) {
  reference::with_type(GetParam(), [&](auto element) {
    for (std::size_t o = 0; o <= op_count; ++o) {
      const Op op = static_cast<Op>(o);
      const bool defined = reference::apply(op, element, element).has_value();
      for (const Isa isa : usable_isas())
        EXPECT_EQ(detail::find(isa, op, GetParam()) != nullptr, defined) << to_string(op);
      const Operation* const found = find(op, GetParam());
      ASSERT_EQ(found != nullptr, defined) << to_string(op);
      if (!found) continue;
      EXPECT_EQ(found, find(op, GetParam()));
      EXPECT_EQ(found, detail::find(detail::best_isa(), op, GetParam()));
      EXPECT_EQ(found->op, op);
      EXPECT_EQ(found->type, GetParam());
      EXPECT_EQ(found->extent, sizeof element);
    }
    EXPECT_EQ(extent(GetParam()), sizeof element);
  });
}

TEST_P(EachType, ShortArrays) {
  for_each_operation([&](Case c) {
    for (c.sources = 1; c.sources <= 6; ++c.sources)
      for (c.elements = 0; c.elements <= 70; c.elements += c.sources > 4 ? 7 : 1) {
        c.shift = c.elements % 5;
        run(c, random);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(EachType, LongArraysOfManySources) {
  for_each_operation([&](Case c) {
    for (const int sources : {1, 2, 3, 4, 5, 7, 8, 9, 14, 23}) {
      c.sources = sources;
      c.elements = 1500 + random() % 1500;
      c.shift = random() % 9;
      run(c, random);
      if (HasFatalFailure()) return;
    }
  });
}

TEST_P(EachType, TargetMayBeAnySource) {
  for_each_operation([&](Case c) {
    for (c.sources = 1; c.sources <= 9; ++c.sources)
      for (c.target = 0; c.target < c.sources; ++c.target)
        for (const std::size_t elements : {std::size_t{1}, std::size_t{37}, std::size_t{700}}) {
          c.elements = elements;
          c.shift = elements == 37 ? 3 : 0;
          run(c, random);
          if (HasFatalFailure()) return;
        }
  });
}

// As a call beyond the caches would run, at sizes a test can afford.
TEST_P(EachType, StreamedTargets) {
  const detail::StreamLimits kept = detail::stream_limits;
  detail::stream_limits = {0, 0};
  for_each_operation([&](Case c) {
    for (const int sources : {2, 3, 4, 5, 8})
      for (const std::size_t elements : {0, 1, 63, 512, 1000})
        for (const std::size_t shift : {0, 1, 16, 32}) {
          c.sources = sources;
          c.elements = elements;
          c.shift = shift;
          c.target = shift == 32 ? 1 : -1;
          run(c, random);
          if (HasFatalFailure()) return;
        }
  });
  detail::stream_limits = kept;
}

// The collectives fold chunks of at most 128 KiB into slots that other ranks read at once: past the caches
// these would come from memory. With very many sources, or on a small cache, they must not be streamed
// either.
TEST(StreamLimits, KeepTheChunksOfTheCollectivesInTheCaches) {
  EXPECT_GT(detail::stream_limits.target, std::size_t{128} << 10);
  EXPECT_NE(detail::stream_limits.together, SIZE_MAX) << "nothing has set the limits";
}

// The same operands give the same bits wherever they stand, in whatever chunks, in any set. The reference
// comparison above implies it; this holds without any reference, and with NaN of every payload.
TEST_P(EachType, BitsDoNotDependOnPlaceOrChunkOrSet) {
  reference::with_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    constexpr std::size_t count = 1500;
    for_each_operation([&](const Case& c) {
      for (const int source_count : {2, 3, 5}) {
        std::vector<Array<T>> sources;
        for (int k = 0; k < source_count; ++k) {
          sources.emplace_back(count, 0);
          for (std::size_t i = 0; i < count; ++i)
            sources.back().set(i, samples::sample(random, static_cast<T*>(nullptr)));
        }
        Array<T> whole(count, 0), pieces(count, 7);
        std::vector<const void*> pointers;
        for (auto& source : sources) pointers.push_back(source.data());
        detail::find(Isa::baseline, c.op, c.type)->kernel(whole.data(), pointers.data(), source_count, count);
        for (std::size_t first = 0; first < count;) {
          const std::size_t piece = std::min<std::size_t>(count - first, 1 + random() % 90);
          std::vector<const void*> at;
          for (auto& source : sources) at.push_back(static_cast<char*>(source.data()) + first * sizeof(T));
          detail::find(c.isa, c.op, c.type)
              ->kernel(static_cast<char*>(pieces.data()) + first * sizeof(T), at.data(), source_count, piece);
          first += piece;
        }
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_TRUE(samples::same_bits(whole.get(i), pieces.get(i))) << describe(c) << ", element " << i;
      }
    });
  });
}

std::vector<Type> all_types() {
  std::vector<Type> types;
  for (std::size_t t = 0; t < type_count; ++t)
    if (extent(static_cast<Type>(t))) types.push_back(static_cast<Type>(t));
  return types;
}

INSTANTIATE_TEST_SUITE_P(Reduce, EachType, testing::ValuesIn(all_types()),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

}  // namespace
