// Levels on the checking machine: their segments lie in the node's area.
#pragma once

#include <memory>

#include "machine/levels/levels.hpp"

namespace espalier::simulation::checker {

/// Those of the rank that runs. The scenario's area has layout.bytes() at least.
std::unique_ptr<machine::Levels> checked_levels(const machine::LevelsLayout& layout);

}  // namespace espalier::simulation::checker
