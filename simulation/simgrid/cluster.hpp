// A cluster in SimGrid (H. Casanova, A. Giersch, A. Legrand, M. Quinson, F. Suter, "Versatile, scalable, and
// accurate simulation of distributed applications and platforms", 2014) with the parameters of a Model.
#pragma once

#include <cstdint>
#include <simgrid/s4u.hpp>
#include <string>

#include "simulation/model/model.hpp"

namespace espalier::simulation {

/// What connects the nodes.
struct Wiring {
  int leaf = 0;    ///< nodes of a leaf switch; 0: all nodes on one switch that never is the bottleneck
  int spines = 0;  ///< switches above, each with a cable to each leaf: leaf / spines is the oversubscription
  std::uint64_t strewn = 0;  ///< not 0: the job's nodes lie anywhere in the tree, by chance from this seed
};

/// SimGrid's clock counts seconds; here one of them is a microsecond, so that its precision (a nanosecond by
/// default) is far below what messages take.
constexpr double ns_of_second = 1000;

/// One a process, since SimGrid has one. Not thread-safe.
///
/// What SimGrid does to model TCP is switched off (its windows, the correction of latencies and bandwidths,
/// the traffic of acknowledgements): a message of b bytes that is alone takes L + bG, as in LogGP. On one
/// switch a card lets in one message after the other; in a fat tree messages that meet on a cable share it,
/// in equal parts at every moment.
class Cluster {
 public:
  /// In a fat tree the first switch costs the model's latency, the way by a spine that of its first
  /// `switches` level besides. Throws Error where nodes do not fill the leaves.
  Cluster(const Model& model, int nodes, const Wiring& wiring);

  const Model& model() const { return model_; }
  simgrid::s4u::Engine& engine() { return engine_; }
  simgrid::s4u::Host* host(int node) const { return hosts_[static_cast<std::size_t>(node)]; }
  int nodes() const { return static_cast<int>(hosts_.size()); }

 private:
  void make_star();
  void make_fat_tree(const Wiring& wiring);
  double bandwidth() const { return ns_of_second / model_.network.wire.per_byte; }

  Model model_;
  simgrid::s4u::Engine engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
};

}  // namespace espalier::simulation
