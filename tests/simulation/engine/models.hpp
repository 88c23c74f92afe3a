// Models with round numbers, so that times can be worked out by hand.
#pragma once

#include "simulation/model/model.hpp"

namespace espalier::testing {

/// Pairs of cores that share a cache, four to a package, eight in all.
inline simulation::Model round_model() {
  simulation::Model model;
  model.name = "round numbers";
  model.file = "round.json";
  model.network.wire = {1000, 100, 50, 1, 0, 0};
  model.network.link_ns_per_byte = 1;
  model.node.levels = {{"l2", 2, 10, 0.1}, {"package", 4, 40, 0.2}, {"machine", 8, 100, 0.4}};
  model.node.reader_gap_ns = 5;
  model.node.own_copy_ns_per_byte = 0.05;
  model.node.reduce_ns_per_byte = 0.1;
  model.node.controller_cores = 4;
  return model;
}

}  // namespace espalier::testing
