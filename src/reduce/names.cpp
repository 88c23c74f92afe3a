#include "reduce/names.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/format.hpp"

namespace espalier::reduce {

namespace {

// In the order of the enumerators.
constexpr auto op_names = std::to_array<std::string_view>(
    {"max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "maxloc", "minloc"});

constexpr std::array<std::string_view, type_count> type_names = {
#define ESPALIER_NAME(name, element, family, units) #name,
    ESPALIER_REDUCE_TYPES(ESPALIER_NAME)
#undef ESPALIER_NAME
};

static_assert(op_names.size() == op_count);

template <class Enum, std::size_t count>
std::string_view name(const std::array<std::string_view, count>& names, Enum value) {
  const auto place = static_cast<std::size_t>(value);
  return place < count ? names[place] : "none";
}

template <class Enum, std::size_t count>
std::optional<Enum> parse(const std::array<std::string_view, count>& names, std::string_view wanted) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

// int32 and uint32 have one code but for max and min (catalogue.hpp).
bool stands_for_several(Op op, Type type) {
  const bool is_integer = type <= Type::uint64;
  return is_integer && op != Op::max && op != Op::min;
}

}  // namespace

std::string_view to_string(Op op) noexcept { return name(op_names, op); }
std::string_view to_string(Type type) noexcept { return name(type_names, type); }

std::string describe(OperationCode code) {
  if (code == user_operation) return "an operator of its own";
  const std::size_t place = code - std::size_t{first_operation_code};
  if (code == no_operation || place / type_count >= op_count) return "";
  const auto op = static_cast<Op>(place / type_count);
  const auto type = static_cast<Type>(place % type_count);
  if (stands_for_several(op, type)) return formatted("{} of {}-byte integers", to_string(op), extent(type));
  return formatted("{} of {}", to_string(op), to_string(type));
}

std::optional<Op> parse_op(std::string_view wanted) noexcept { return parse<Op>(op_names, wanted); }
std::optional<Type> parse_type(std::string_view wanted) noexcept { return parse<Type>(type_names, wanted); }

}  // namespace espalier::reduce
