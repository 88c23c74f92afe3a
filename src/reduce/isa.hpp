// The kernels by instruction set, for find() and for tests that compare the sets.
#pragma once

#include <cstdint>

#include "reduce/exact/split_sums.hpp"
#include "reduce/operation.hpp"

namespace espalier::reduce {

enum class Isa : std::uint8_t { baseline, avx2, avx512, none };

namespace detail {

struct Table {
  Operation operations[op_count][type_count];
  // Sums that are rounded once, of all sources of a call: float32, float64, complex64, complex128.
  Kernel exact_sums[4];
  exact::Splitter split_floats, split_doubles;
};

// When a call stores its target past the caches: both must be reached. Set when the library is loaded (before
// that nothing is streamed); tests set them to their needs.
struct StreamLimits {
  // Bytes of the target. Far above the chunks of the collectives, whose targets are slots that other ranks
  // read at once, and whose sources are many: these stay in the caches however small the caches are.
  std::size_t target;
  std::size_t together;  // bytes of sources and target: what of the last-level cache is ours
};
extern StreamLimits stream_limits;

// nullptr where this CPU or this build lacks the set. A table of a wide set holds only what gains from it;
// the rest (a null kernel there) is in the table of a narrower one.
const Table* table(Isa isa) noexcept;

// As reduce::find, with the kernels of one set (else of a narrower). nullptr also when the set cannot be used
// here.
const Operation* find(Isa isa, Op op, Type type) noexcept;

// The widest set this CPU has: what reduce::find uses.
Isa best_isa() noexcept;

}  // namespace detail

}  // namespace espalier::reduce
