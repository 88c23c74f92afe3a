#include "reduce/names.hpp"

#include <algorithm>
#include <array>

namespace espalier::reduce {

namespace {

// In the order of the enumerators.
constexpr auto op_names = std::to_array<std::string_view>(
    {"max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "maxloc", "minloc"});

constexpr auto type_names = std::to_array<std::string_view>({"int8",
                                                             "int16",
                                                             "int32",
                                                             "int64",
                                                             "int128",
                                                             "uint8",
                                                             "uint16",
                                                             "uint32",
                                                             "uint64",
                                                             "float16",
                                                             "float32",
                                                             "float64",
                                                             "float_extended",
                                                             "float128",
                                                             "complex64",
                                                             "complex128",
                                                             "complex_extended",
                                                             "complex256",
                                                             "boolean",
                                                             "logical8",
                                                             "logical16",
                                                             "logical32",
                                                             "logical64",
                                                             "logical128",
                                                             "byte",
                                                             "float_int",
                                                             "double_int",
                                                             "long_int",
                                                             "int_int",
                                                             "short_int",
                                                             "long_double_int",
                                                             "float_float",
                                                             "double_double"});

static_assert(op_names.size() == op_count && type_names.size() == type_count);

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

}  // namespace

std::string_view to_string(Op op) noexcept { return name(op_names, op); }
std::string_view to_string(Type type) noexcept { return name(type_names, type); }

std::optional<Op> parse_op(std::string_view wanted) noexcept { return parse<Op>(op_names, wanted); }
std::optional<Type> parse_type(std::string_view wanted) noexcept { return parse<Type>(type_names, wanted); }

}  // namespace espalier::reduce
