// Which types and operators ranks have to agree on, as labels of espalier_comm_set_label.
#pragma once

#include <torch/csrc/distributed/c10d/Types.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace espalier_torch {

/// In the order of ../elements.py, since ranks of one group may have the form in Python. By their names, for versions of torch
/// differ in which types they have.
inline constexpr auto label_types = std::to_array<std::string_view>({"Char",
                                                                     "Short",
                                                                     "Int",
                                                                     "Long",
                                                                     "Byte",
                                                                     "UInt16",
                                                                     "UInt32",
                                                                     "UInt64",
                                                                     "Bool",
                                                                     "Half",
                                                                     "BFloat16",
                                                                     "Float",
                                                                     "Double",
                                                                     "ComplexHalf",
                                                                     "ComplexFloat",
                                                                     "ComplexDouble",
                                                                     "Float8_e4m3fn",
                                                                     "Float8_e5m2",
                                                                     "Float8_e4m3fnuz",
                                                                     "Float8_e5m2fnuz",
                                                                     "Float8_e8m0fnu"});

/// From 0 on; nothing for one that is not there.
inline std::optional<std::size_t> number_of(at::ScalarType type) {
  static const auto numbers = [] {
    std::array<std::optional<std::size_t>, static_cast<std::size_t>(at::ScalarType::NumOptions)> all;
    for (std::size_t each = 0; each < all.size(); ++each)
      for (std::size_t number = 0; number < label_types.size(); ++number)
        if (c10::toString(static_cast<at::ScalarType>(each)) == label_types[number]) all[each] = number;
    return all;
  }();
  return numbers.at(static_cast<std::size_t>(type));
}

/// 1 for the first operator; 0 for one that is not there.
inline std::size_t number_of(c10d::ReduceOp::RedOpType op) {
  using Op = c10d::ReduceOp::RedOpType;
  constexpr std::array ops = {Op::SUM, Op::AVG,  Op::PREMUL_SUM, Op::PRODUCT, Op::MIN,
                              Op::MAX, Op::BAND, Op::BOR,        Op::BXOR};
  for (std::size_t number = 0; number < ops.size(); ++number)
    if (ops[number] == op) return number + 1;
  return 0;
}

/// Of data that are moved; 0: not compared.
inline int label_of(at::ScalarType type) {
  const auto number = number_of(type);
  return number ? static_cast<int>(*number + 1) : 0;
}

/// Of data that are reduced.
inline int label_of(at::ScalarType type, c10d::ReduceOp::RedOpType op) {
  const int label = label_of(type);
  return label ? label + static_cast<int>(number_of(op) * label_types.size()) : 0;
}

}  // namespace espalier_torch
