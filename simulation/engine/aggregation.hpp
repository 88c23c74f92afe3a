// A tree of aggregation nodes over the nodes of a job (SHARP II-A): each waits for all its children, passes
// the fold on, and the result comes back down.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "simulation/model/model.hpp"

namespace espalier::simulation {

class Aggregation {
 public:
  /// `members` take part, in the order of their numbers. The model must have a radix.
  Aggregation(const AggregationModel& model, int members) : model_(model) {
    for (int children = members; levels_.empty() || children > 1;) {
      const int parents = (children + model.radix - 1) / model.radix;
      std::vector<Node> level(static_cast<std::size_t>(parents));
      for (int i = 0; i < parents; ++i)
        level[static_cast<std::size_t>(i)].children = std::min(model.radix, children - i * model.radix);
      levels_.push_back(std::move(level));
      children = parents;
    }
  }

  /// Member `number` has posted `bytes` at `time`. True when it was the last.
  bool post(int number, double time, double bytes) {
    double up = time;
    for (std::vector<Node>& level : levels_) {
      number /= model_.radix;
      Node& node = level[static_cast<std::size_t>(number)];
      node.complete =
          std::max(node.complete,
                   up + model_.hop_ns + std::min<double>(bytes, model_.payload_bytes) * model_.ns_per_byte);
      if (++node.arrived < node.children) return false;
      up = node.complete;
    }
    result_ = up + model_.down_hop_ns * static_cast<double>(levels_.size()) + of_more(bytes);
    for (std::vector<Node>& level : levels_)
      for (Node& node : level) node.arrived = 0, node.complete = 0;
    return true;
  }
  /// When the result is with every rank, once the last has posted.
  double result() const { return result_; }

 private:
  struct Node {
    int children = 0, arrived = 0;
    double complete = 0;
  };

  /// Vectors longer than the payload take several operations, of which the quota lets some be under way at
  /// once.
  double of_more(double bytes) const {
    const double operations = std::max(1.0, std::ceil(bytes / model_.payload_bytes));
    const double trip = (model_.hop_ns + model_.down_hop_ns) * static_cast<double>(levels_.size()) +
                        model_.payload_bytes * model_.ns_per_byte * static_cast<double>(levels_.size());
    return (std::ceil(operations / model_.outstanding) - 1) * trip +
           (std::min<double>(operations, model_.outstanding) - 1) * model_.payload_bytes * model_.ns_per_byte;
  }

  AggregationModel model_;
  std::vector<std::vector<Node>> levels_;
  double result_ = 0;
};

}  // namespace espalier::simulation
