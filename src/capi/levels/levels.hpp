// The levels and groups that the C API hands out, whatever machine they are of.
#pragma once

#include <memory>
#include <vector>

#include "capi/errors/error.hpp"
#define ESPALIER_NO_INLINE  // here are the functions themselves
#include "espalier/espalier_levels.h"
#include "machine/levels/levels.hpp"

struct espalier_group {
  const espalier::machine::OwnGroup* own = nullptr;  ///< null: this rank has none at the level
  espalier::machine::GroupOperations* operations = nullptr;
  espalier_group_view view{};  ///< as base cases get it; of the last traversal
};

struct espalier_levels {
  explicit espalier_levels(std::unique_ptr<espalier::machine::Levels> made);

  std::unique_ptr<espalier::machine::Levels> levels;
  std::vector<espalier_group> groups;  ///< by level; what views point to
};
