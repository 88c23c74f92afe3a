#include "sharp/operations.hpp"

#include <array>

#include <sharp/api/sharp_coll.h>

namespace espalier::sharp {
namespace {

using reduce::Op;
using reduce::Type;

constexpr std::array<Type, SHARP_DTYPE_NULL> types = {Type::uint32,  Type::int32,   Type::uint64, Type::int64,
                                                      Type::float32, Type::float64, Type::uint16, Type::int16,
                                                      Type::float16, Type::none,    Type::uint8,  Type::int8};
constexpr std::array<Op, SHARP_OP_NULL> ops = {Op::max, Op::min, Op::sum,  Op::prod, Op::land, Op::band,
                                               Op::lor, Op::bor, Op::lxor, Op::bxor, Op::none, Op::none};

}  // namespace

const reduce::Operation* kernel_of(std::uint8_t op, std::uint8_t type) {
  if (op >= ops.size() || type >= types.size() || ops[op] == Op::none || types[type] == Type::none)
    return nullptr;
  return reduce::find(ops[op], types[type]);
}

std::size_t extent_of(std::uint8_t type) { return type < types.size() ? reduce::extent(types[type]) : 0; }

}  // namespace espalier::sharp
