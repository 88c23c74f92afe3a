#include "capi/types.hpp"

#include <array>

#include "base/config.hpp"
#include "base/format.hpp"
#include "capi/errors/error.hpp"
#include "reduce/names.hpp"
#include "reduce/reproducible.hpp"

namespace espalier::capi {
namespace {

using reduce::Op;
using reduce::Type;

constexpr std::array types = {Type::int8,       Type::int16,   Type::int32,          Type::int64,
                              Type::uint8,      Type::uint16,  Type::uint32,         Type::uint64,
                              Type::float32,    Type::float64, Type::float_extended, Type::complex64,
                              Type::complex128, Type::boolean, Type::float_int,      Type::double_int,
                              Type::int_int,    Type::float16, Type::bfloat16};
static_assert(types.size() == ESPALIER_BFLOAT16 + 1);

constexpr std::array ops = {Op::max, Op::min, Op::sum,  Op::prod, Op::land,   Op::band,
                            Op::lor, Op::bor, Op::lxor, Op::bxor, Op::maxloc, Op::minloc};
static_assert(ops.size() == ESPALIER_MINLOC + 1);

}  // namespace

reduce::Type type_of(espalier_type type) {
  const auto t = static_cast<std::size_t>(type);
  if (t >= types.size()) throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("{} is no espalier_type", t));
  return types[t];
}

const reduce::Operation& operation_of(espalier_type type, espalier_op op) {
  const reduce::Type of = type_of(type);
  const auto o = static_cast<std::size_t>(op);
  if (o >= ops.size()) throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("{} is no espalier_op", o));
  static const reduce::Reproducibility level = reduce::reproducibility(Config::instance());
  const reduce::Operation* operation = reduce::find(ops[o], of, level);
  if (!operation)
    throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("the operator {} is not defined on {}",
                                                      reduce::to_string(ops[o]), reduce::to_string(of)));
  return *operation;
}

}  // namespace espalier::capi
