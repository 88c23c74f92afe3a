// How long the join of node stage and network stage takes.
#pragma once

#include <cstddef>

#include "plan/cost/call_cost.hpp"

namespace espalier::plan {

/// The stages of one segment. Nanoseconds.
struct SegmentCost {
  double gather = 0;  ///< node stage before the network stage
  Cost network;
  double release = 0;  ///< node stage after it
};

/// `full` segments alike, then one that may be shorter: the loop of collective/multinode/stage/join.hpp as a
/// recurrence over a leader's clock. Gathers, releases and the CPU time of messages follow on each other
/// there; on the network segments overlap as far as the busiest port lets them. So what is reported is never
/// more than the stages one after the other, nor less than the network stage or the node stage alone.
double joined_time(const SegmentCost& segment, std::size_t full, const SegmentCost& last);

}  // namespace espalier::plan
