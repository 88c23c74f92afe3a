// torch's types and operators as those of espalier.h.
#pragma once

#include <torch/csrc/distributed/c10d/Types.hpp>

#include <optional>

#include "espalier.h"
#include "labels.hpp"
#include "memory.hpp"

namespace espalier_torch {

/// How to reduce: a factor for what is sent, and whether the result is divided by the ranks.
struct Fold {
  espalier_type type;
  espalier_op op;
  int label = 0;  // of type and operator, for the other ranks to compare
  bool average = false;
  c10::intrusive_ptr<c10d::_SupplementBase> factor = {};
  bool plain() const { return !average && !factor; }

  /// What is sent in the place of `tensor`: a dense one, and another than `tensor` where there is a factor.
  at::Tensor scaled(const at::Tensor& tensor) const {
    if (!factor) return packed(tensor);
    const auto& by = static_cast<const c10d::NCCLPreMulSumSupplement&>(*factor);
    const at::Tensor product =
        by.tensor_factor.defined() ? tensor * by.tensor_factor : tensor * by.double_factor;
    return product.to(tensor.scalar_type()).contiguous();
  }
  void finish(const at::Tensor& result, int ranks) const {
    if (!average) return;
    const bool whole = at::isIntegralType(result.scalar_type(), /*includeBool=*/true);
    whole ? result.div_(ranks, "trunc") : result.div_(ranks);
  }
};

inline std::optional<espalier_type> type_of(at::ScalarType type) {
  switch (type) {
    case at::kChar:
      return ESPALIER_INT8;
    case at::kShort:
      return ESPALIER_INT16;
    case at::kInt:
      return ESPALIER_INT32;
    case at::kLong:
      return ESPALIER_INT64;
    case at::kByte:
    case at::kBool:  // bytes of 0 and 1
      return ESPALIER_UINT8;
    case at::kUInt16:
      return ESPALIER_UINT16;
    case at::kUInt32:
      return ESPALIER_UINT32;
    case at::kUInt64:
      return ESPALIER_UINT64;
    case at::kFloat:
      return ESPALIER_FLOAT;
    case at::kDouble:
      return ESPALIER_DOUBLE;
    case at::kHalf:
      return ESPALIER_FLOAT16;
    case at::kBFloat16:
      return ESPALIER_BFLOAT16;
    default:
      return std::nullopt;
  }
}

inline std::optional<espalier_op> op_of(c10d::ReduceOp::RedOpType op, bool integer, bool truth) {
  using Op = c10d::ReduceOp::RedOpType;
  switch (op) {
    case Op::SUM:
    case Op::AVG:
    case Op::PREMUL_SUM:
      if (truth) return std::nullopt;
      return ESPALIER_SUM;
    case Op::PRODUCT:
      return truth ? ESPALIER_MIN : ESPALIER_PROD;
    case Op::MIN:
      return ESPALIER_MIN;
    case Op::MAX:
      return ESPALIER_MAX;
    case Op::BAND:
    case Op::BOR:
    case Op::BXOR:
      if (!integer) return std::nullopt;
      return op == Op::BAND ? ESPALIER_BAND : op == Op::BOR ? ESPALIER_BOR : ESPALIER_BXOR;
    default:
      return std::nullopt;
  }
}

/// Nothing for what Espalier does not reduce.
inline std::optional<Fold> fold_of(at::ScalarType scalar, const c10d::ReduceOp& op) {
  const auto type = type_of(scalar);
  if (!type) return std::nullopt;
  // torch neither divides nor multiplies these: gloo refuses them before anything is added.
  const bool wide = *type == ESPALIER_UINT16 || *type == ESPALIER_UINT32 || *type == ESPALIER_UINT64;
  if (wide && (op.op_ == c10d::ReduceOp::AVG || op.op_ == c10d::ReduceOp::PREMUL_SUM)) return std::nullopt;
  const auto ours = op_of(op.op_, at::isIntegralType(scalar, /*includeBool=*/true), scalar == at::kBool);
  if (!ours) return std::nullopt;
  Fold fold{*type, *ours, label_of(scalar, op.op_), op.op_ == c10d::ReduceOp::AVG};
  if (op.op_ == c10d::ReduceOp::PREMUL_SUM) fold.factor = op.supplement_;
  return fold;
}

}  // namespace espalier_torch
