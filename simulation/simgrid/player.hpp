// Replays recordings in SimGrid instead of the engine: the same programs, every rank an actor.
#pragma once

#include "simulation/engine/replay.hpp"
#include "simulation/simgrid/cluster.hpp"

namespace espalier::simulation {

/// Plays recordings one after the other and says when each of their ranks had finished, in nanoseconds from
/// the recording's begin. Each node has one rank. Messages are sent as the engine sends them: at once,
/// whether their receiver waits or not. Throws Error for recordings with more ranks on a node and for
/// programs that use aggregation nodes. Call it once for a cluster.
std::vector<std::vector<double>> play_in_simgrid(Cluster& cluster, const std::vector<Recording>& recordings);

}  // namespace espalier::simulation
