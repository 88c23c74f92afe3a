// Operations whose bits do not depend on where the ranks are, or on how a call is served.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/config.hpp"
#include "reduce/operation.hpp"

namespace espalier::reduce {

/// What results depend on, besides the operands:
///  - run: on the ranks' places, the algorithm and so on: the same job on the same machine gives the same bits;
///  - placement: on the ranks' order alone: an element's operands are folded in rank order, from left to right, in
///    one call of the kernel;
///  - exact: sums of float, double and complex numbers of both on nothing else: they are as if computed without
///    rounding and rounded once, to nearest, ties to even. All else as placement.
enum class Reproducibility : std::uint8_t { run, placement, exact };

std::string_view to_string(Reproducibility level) noexcept;
/// What is promised of reductions, in words; empty at `run`.
std::string_view promise(Reproducibility level) noexcept;
std::optional<Reproducibility> parse_reproducibility(std::string_view name) noexcept;

/// ESPALIER_REPRODUCIBLE, which is the same on all ranks that serve calls together.
Reproducibility reproducibility(const Config& config);

/// As find(op, type) at `run`. Above it an operation that does not fold_in_any_order() is `at_once`.
const Operation* find(Op op, Type type, Reproducibility level) noexcept;

/// Whether the sum of the type is rounded once at the level.
bool is_exact(Op op, Type type, Reproducibility level) noexcept;

}  // namespace espalier::reduce
