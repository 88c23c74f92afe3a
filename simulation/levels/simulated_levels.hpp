// Levels on the simulated machine: base cases in simulated time.
#pragma once

#include <functional>
#include <memory>

#include "machine/levels/levels.hpp"
#include "simulation/engine/live.hpp"

namespace espalier::simulation {

/// What a rank does with its levels, in its fiber.
using LevelsBody = std::function<void(std::unique_ptr<machine::Levels> levels)>;

/// Runs `body` on all ranks of one node from time 0 on; `layout` is of as many ranks. What a rank puts lies in
/// its cache, and who gets it copies from there; a word's line goes from rank to rank, and words of one line
/// of 64 bytes disturb each other. Throws as run_live() does, and Error for several nodes.
Times run_levels(const Model& model, const Shape& shape, const machine::LevelsLayout& layout,
                 std::uint64_t seed, const LevelsBody& body);

}  // namespace espalier::simulation
