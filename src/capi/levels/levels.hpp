// The levels and groups that the C API hands out, whatever machine they are of.
#pragma once

#include <memory>
#include <vector>

#include "capi/errors/error.hpp"
#include "espalier/espalier_levels.h"
#include "machine/levels/levels.hpp"

struct espalier_group {
  espalier::machine::GroupOperations* operations = nullptr;
};

struct espalier_levels {
  explicit espalier_levels(std::unique_ptr<espalier::machine::Levels> made);

  std::unique_ptr<espalier::machine::Levels> levels;
  std::vector<espalier_group> groups;  ///< by level; what a view points to
};
