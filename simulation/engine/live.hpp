// Ranks as fibers on the engine: data move, results can be checked, control flow may depend on anything.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simulation/engine/call.hpp"
#include "simulation/engine/engine.hpp"

namespace espalier::simulation {

/// What a rank does, in its fiber, with Sink::current() its own.
using RankBody = std::function<void(SimulatedMachine& machine, int rank)>;

/// What came out of a run, in nanoseconds.
struct Times {
  std::vector<double> ended;  ///< by rank
  std::vector<Span> timeline;
  double last() const;
  double mean() const;
};

/// Runs `body` on all ranks from time 0 on. Throws what a body throws, and Error with who waits for what when
/// ranks wait for each other for ever.
Times run_live(const Model& model, const Shape& shape, const machine::Layout& layout, std::uint64_t seed,
               const RankBody& body, bool with_timeline = false);

}  // namespace espalier::simulation
