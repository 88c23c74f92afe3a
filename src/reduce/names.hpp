// Operators and types as text, for messages, rules and tests. The names are those of the enumerators.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reduce/operation.hpp"

namespace espalier::reduce {

std::string_view to_string(Op op) noexcept;      // "none" for what is no operator
std::string_view to_string(Type type) noexcept;  // "none" for what is no type

// "sum of float64", "sum of 4-byte integers", "an operator of its own"; "" for what is no code.
std::string describe(OperationCode code);

// Exact, in lower case; nothing for an unknown name, and for "none".
std::optional<Op> parse_op(std::string_view wanted) noexcept;
std::optional<Type> parse_type(std::string_view wanted) noexcept;

}  // namespace espalier::reduce
