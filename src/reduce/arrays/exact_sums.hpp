// Arrays of a rank's own, added to long accumulators.
#pragma once

#include <cstddef>

#include "reduce/exact/accumulator.hpp"
#include "reduce/isa.hpp"
#include "reduce/type.hpp"

namespace espalier::reduce::exact {

/// Accumulators that a sum of such elements takes: 1, of complex ones 2 (real, imaginary), 0 of types without
/// exact sums.
int parts_of(Type type) noexcept;

/// sums[0 to parts_of(type) - 1] += all values, exactly; `values` may have any alignment. In the best form for this
/// CPU, or in that of `isa`, which this CPU has.
void add(Accumulator* sums, Type type, const void* values, std::size_t count) noexcept;
void add(Accumulator* sums, Type type, const void* values, std::size_t count, Isa isa) noexcept;

}  // namespace espalier::reduce::exact
