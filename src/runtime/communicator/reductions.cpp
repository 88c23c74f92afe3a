// Reduce and allreduce.
#include "collective/node/allreduce.hpp"
#include "collective/node/allreduce_central.hpp"
#include "collective/node/allreduce_exchange.hpp"
#include "collective/node/allreduce_sliced.hpp"
#include "collective/node/bcast.hpp"
#include "collective/node/reduce.hpp"
#include "collective/node/reduce_zero_copy.hpp"
#include "collective/node/reduce_whole.hpp"
#include "runtime/communicator/node_state.hpp"
#include "runtime/multinode/multinode.hpp"

namespace espalier::runtime {

using plan::Algorithm;
using plan::Plan;

bool Communicator::reduce(const void* send, void* receive, std::size_t count,
                          const reduce::Operation& operation, int root) {
  const std::size_t bytes = count * operation.extent;
  if (!state_) {
    if (spanning_) return spanning_->reduce(send, receive, count, operation, root);
    if (active_ && send != in_place && bytes > 0) operation.kernel(receive, &send, 1, count);
    return active_;
  }
  return state_->serve_rooted(Collective::reduce, bytes, root, [&](const Plan& plan) {
    const collective::Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
    collective::reduce_tree(state_->machine, state_->places.of(plan, root).gather, reduction, plan);
  });
}

bool Communicator::allreduce(const void* send, void* receive, std::size_t count,
                             const reduce::Operation& operation) {
  const std::size_t bytes = count * operation.extent;
  if (!state_) {
    if (spanning_) return spanning_->allreduce(send, receive, count, operation);
    if (active_ && send != in_place && bytes > 0) operation.kernel(receive, &send, 1, count);
    return active_;
  }
  machine::HostMachine& m = state_->machine;
  return state_->serve(Collective::allreduce, bytes, [&](const Plan& plan) {
    const collective::Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
    if (state_->lends(Collective::allreduce, bytes, plan,
                      [&] { return collective::allreduce_lent(m, reduction); }))
      return;
    if (plan.algorithm == Algorithm::exchange) return collective::allreduce_exchange(m, reduction, plan);
    if (plan.algorithm == Algorithm::central) return collective::allreduce_central(m, reduction, plan);
    if (plan.algorithm == Algorithm::sliced) return collective::allreduce_sliced(m, reduction, plan);
    const Places::Pair& pair = state_->places.of(plan, 0);
    collective::allreduce_tree(m, pair.gather, pair.release, reduction, plan);
  });
}

bool Communicator::reduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
                          int root) {
  if (!state_) {
    if (spanning_) return spanning_->reduce(send, receive, bytes, operation, root);
    if (active_) copy_alone(receive, send, bytes);
    return active_;
  }
  return state_->serve_whole(Collective::reduce, bytes, root, [&](const Plan& plan) {
    collective::reduce_whole(state_->machine, state_->places.contiguous(root),
                             send == in_place ? receive : send, receive, bytes,
                             {operation.combine, operation.context}, plan);
  });
}

bool Communicator::allreduce(const void* send, void* receive, std::size_t bytes,
                             const UserOperation& operation) {
  if (!state_) {
    if (spanning_) return spanning_->allreduce(send, receive, bytes, operation);
    if (active_) copy_alone(receive, send, bytes);
    return active_;
  }
  constexpr int root = 0;
  return state_->serve_whole(Collective::allreduce, bytes, root, [&](const Plan& plan) {
    machine::HostMachine& m = state_->machine;
    collective::reduce_whole(m, state_->places.contiguous(root), send == in_place ? receive : send, receive,
                             bytes, {operation.combine, operation.context}, plan);
    collective::bcast_tree(m, state_->places.of(plan, root).release, receive, bytes, plan);
  });
}

}  // namespace espalier::runtime
