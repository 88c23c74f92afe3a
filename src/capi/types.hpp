// The types and operators of espalier.h in the terms of reduce/.
#pragma once

#include "espalier/espalier.h"
#include "reduce/operation.hpp"

namespace espalier::capi {

/// Throws CodedError for numbers that are none of ours.
reduce::Type type_of(espalier_type type);

/// With the kernel that ESPALIER_REPRODUCIBLE asks for. Throws CodedError as type_of() does, and for pairs that are not defined.
const reduce::Operation& operation_of(espalier_type type, espalier_op op);

}  // namespace espalier::capi
