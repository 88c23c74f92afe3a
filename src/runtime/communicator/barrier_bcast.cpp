// Barrier and bcast.
#include "collective/node/barrier.hpp"
#include "collective/node/bcast_single_copy.hpp"
#include "runtime/communicator/node_state.hpp"
#include "runtime/multinode/multinode.hpp"

namespace espalier::runtime {

using plan::Algorithm;
using plan::Plan;

bool Communicator::barrier() {
  if (!state_) return spanning_ ? spanning_->barrier() : active_;
  machine::HostMachine& m = state_->machine;
  return state_->serve(Collective::barrier, 0, [&](const Plan& plan) {
    if (plan.algorithm == Algorithm::exchange) return collective::barrier_exchange(m);
    if (plan.algorithm == Algorithm::central) return collective::barrier_central(m);
    const Places::Pair& pair = state_->places.of(plan, 0);
    collective::barrier_tree(m, pair.gather, pair.release, plan);
  });
}

bool Communicator::bcast(void* buffer, std::size_t bytes, int root) {
  if (!state_) return spanning_ ? spanning_->bcast(buffer, bytes, root) : active_;
  return state_->serve_rooted(Collective::bcast, bytes, root, [&](const Plan& plan) {
    const collective::Place& place = state_->places.of(plan, root).release;
    machine::HostMachine& m = state_->machine;
    if (collective::by_kernel(plan)) return collective::bcast_single_copy(m, place, buffer, bytes, plan);
    if (!state_->lends(Collective::bcast, bytes, plan,
                       [&] { return collective::bcast_where_it_lies(m, place, buffer, bytes, plan); }))
      collective::bcast_tree(m, place, buffer, bytes, plan);
  });
}

}  // namespace espalier::runtime
