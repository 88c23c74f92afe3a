// One predefined MPI operator on one type, as a kernel over any number of sources.
//
// The result of an element depends on its operands and their order alone: not on its place in the array, the
// alignment, how the array is cut into chunks, or the instruction set in use. So all ranks get identical bits
// however they divide the work. To that end:
//  - sources are combined strictly from left to right, without fused multiply-add;
//  - sums and products of half precision and bfloat16 are folded in float over all sources of a call and rounded
//    once, to nearest, ties to even; subnormals are numbers;
//  - integer sum and prod wrap around, signed ones too;
//  - a sum or product that is not a number is one and the same quiet NaN (sign clear, no payload);
//  - max and min are `a > b ? a : b` and `a < b ? a : b`, so when a or b is NaN, or they are zeros of
//  different sign,
//    the later one, b, is taken, bit for bit;
//  - a complex product is (ac - bd, ad + bc), with no special treatment of infinities;
//  - logical operators take any value but 0 for true and give 0 or 1;
//  - maxloc and minloc keep the lower index of equal values; padding in the target's pairs is left alone.
// A single source is copied as it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/type.hpp"

namespace espalier::reduce {

enum class Op : std::uint8_t { max, min, sum, prod, land, band, lor, bor, lxor, bxor, maxloc, minloc, none };

inline constexpr std::size_t op_count = static_cast<std::size_t>(Op::none);

// target[i] = sources[0][i] op sources[1][i] op ... op sources[source_count - 1][i], for i < elements.
// source_count >= 1. No pointer need be aligned. The target may be identical to any one source, otherwise
// nothing overlaps. Thread-safe; allocates nothing; uses at most 4 KiB and some of stack.
using Kernel = void (*)(void* target, const void* const* sources, int source_count,
                        std::size_t elements) noexcept;

/// Of an operator and a kind of elements, and equal where the same kernel would give the same bits: a sum of
/// int32 and one of uint32 have one code, their maxima two. Ranks compare it (machine/fingerprint.hpp).
using OperationCode = std::uint16_t;
inline constexpr int operation_code_bits = 10;
inline constexpr OperationCode no_operation = 0, first_operation_code = 1;
/// An operator of the caller's own, on whatever elements.
inline constexpr OperationCode user_operation = (1 << operation_code_bits) - 1;
static_assert(first_operation_code + op_count * type_count <= user_operation);

struct Operation {
  Kernel kernel = nullptr;
  Op op = Op::none;
  Type type = Type::none;
  OperationCode code = no_operation;
  std::size_t extent = 0;  // bytes from one element to the next
  // The operands of an element must come to the kernel all in one call, in rank order (reproducible.hpp).
  bool at_once = false;
};

// The operation in the best form for this CPU; nullptr where MPI does not define the operator on the type, or
// the type does not exist here. The pointer stays valid for ever. Thread-safe, no allocation, usable in
// constructors.
const Operation* find(Op op, Type type) noexcept;

// Whether elements give the same bits in whatever order they are folded: integers and truth values do, but
// for maxloc and minloc, whose pairs are left out.
constexpr bool folds_in_any_order(const Operation& operation) {
  const bool is_integer = operation.type <= Type::uint64;
  const bool is_truth = operation.type >= Type::boolean && operation.type <= Type::byte;
  return (is_integer || is_truth) && operation.op < Op::maxloc;
}

}  // namespace espalier::reduce
