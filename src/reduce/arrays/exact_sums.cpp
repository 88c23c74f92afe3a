#include "reduce/arrays/exact_sums.hpp"

#include <algorithm>
#include <cstring>

namespace espalier::reduce::exact {
namespace {

// The slow way, which takes any values: every `step`th from `first` on.
template <class Element>
void add_one_by_one(Accumulator& sum, const std::byte* values, std::size_t count, std::size_t first,
                    std::size_t step) noexcept {
  for (std::size_t i = first; i < count; i += step) {
    Element value;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    add(sum, static_cast<double>(value));
  }
}

// Adds what one accumulator gets of a split block; false: that is 0, of which the sign is not known.
bool add_parts(Accumulator& sum, const SplitSums& split, int parts, int first, int step) noexcept {
  bool any = false;
  for (int part = 0; part < parts; ++part)
    for (int odd = first; odd < 2; odd += step)
      if (const double some = split.sum[part][odd]; some != 0) {
        add(sum, some);
        any = true;
      }
  return any;
}

// `count` of floats or doubles, of which complex numbers (accumulators == 2) have two each.
template <class Element>
void add_blocks(Accumulator* sums, int accumulators, const std::byte* values, std::size_t count,
                Splitter splitter) noexcept {
  for (std::size_t done = 0; done < count; done += block_elements) {
    const std::size_t some = std::min(block_elements, count - done);
    const std::byte* const block = values + done * sizeof(Element);
    SplitSums split;
    const int parts = splitter(block, some, split);
    for (int i = 0; i < accumulators; ++i)
      if (!add_parts(sums[i], split, parts, i, accumulators))
        add_one_by_one<Element>(sums[i], block, some, static_cast<std::size_t>(i),
                                static_cast<std::size_t>(accumulators));
  }
}

}  // namespace

int parts_of(Type type) noexcept {
  switch (type) {
    case Type::float32:
    case Type::float64:
      return 1;
    case Type::complex64:
    case Type::complex128:
      return 2;
    default:
      return 0;
  }
}

namespace {

void add(Accumulator* sums, Type type, const void* values, std::size_t count,
         const detail::Table& table) noexcept {
  const auto* const bytes = static_cast<const std::byte*>(values);
  const int parts = parts_of(type);
  count *= static_cast<std::size_t>(parts);
  if (type == Type::float32 || type == Type::complex64)
    add_blocks<float>(sums, parts, bytes, count, table.split_floats);
  else if (parts > 0)
    add_blocks<double>(sums, parts, bytes, count, table.split_doubles);
}

}  // namespace

void add(Accumulator* sums, Type type, const void* values, std::size_t count, Isa isa) noexcept {
  add(sums, type, values, count, *detail::table(isa));
}

// To ask which set there is takes microseconds on a virtual machine.
void add(Accumulator* sums, Type type, const void* values, std::size_t count) noexcept {
  static const detail::Table& best = *detail::table(detail::best_isa());
  add(sums, type, values, count, best);
}

}  // namespace espalier::reduce::exact
