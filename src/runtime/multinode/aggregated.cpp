// Barrier, reduce and allreduce over nodes on aggregation nodes in the network.
#include "collective/multinode/aggregated.hpp"
#include "runtime/multinode/serve.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {

using collective::multinode::RootIs;
using collective::multinode::segments_under_way;
using plan::NetworkPlan;

/// By values that are equal on all ranks, and by what they have agreed before.
bool MultiNodeCommunicator::offloads(Collective collective, std::size_t bytes,
                                     const reduce::Operation* operation) {
  if (!offload_) return false;
  passed_over_.clear();
  if ((*with_sharp_)(collective, bytes).algorithm != plan::Algorithm::sharp) return false;
  const auto share = [this](void* data, std::size_t some) {
    on_stage([&](auto& stage) { stage.bcast(0, data, some); });
  };
  const bool admitted = guarded([&] { return offload_->admits(operation, share); });
  if (!admitted) passed_over_ = offload_->objection();
  return admitted;
}

/// For the statistics. What offloads() has found out holds for one call.
std::string MultiNodeCommunicator::why_passed_over(Collective collective, const plan::NetworkPlan& plan) {
  if (plan::goes_through_window(plan.algorithm)) return no_ring_;
  const bool might = collective == Collective::barrier || collective == Collective::reduce ||
                     collective == Collective::allreduce;
  if (offload_) return std::exchange(passed_over_, "");
  return might ? passed_over_ : "";
}

void MultiNodeCommunicator::barrier_offloaded() {
  offload({Collective::barrier, 0, 0}, [&](const NetworkPlan&) {
    on_stage([&](auto& stage) {
      collective::multinode::barrier_aggregated(stage, one_a_node(counterparts_.front()), *offload_);
    });
  });
}

void MultiNodeCommunicator::allreduce_offloaded(const collective::Reduction& reduction) {
  offload({Collective::allreduce, 0, reduction.bytes, reduction.operation.code},
          [&](const NetworkPlan& plan) {
            on_stage([&](auto& stage) {
              collective::multinode::allreduce_aggregated(stage, one_a_node(counterparts_.front()), *offload_,
                                                          reduction, plan);
            });
          });
}

void MultiNodeCommunicator::reduce_offloaded(const collective::Reduction& reduction, int root) {
  const int root_node = nodes_.placement.node_of[static_cast<std::size_t>(root)];
  const int leader = counterparts_.front()[static_cast<std::size_t>(root_node)];
  const RootIs where = rank() == root           ? RootIs::me
                       : root_node == my_node() ? RootIs::another_of_node
                                                : RootIs::elsewhere;
  const std::vector<int> other = {rank() == leader ? root : leader};
  std::byte* ignored = local_rank() == 0 ? whole_.of(segments_under_way * offload_->payload()) : nullptr;
  offload({Collective::reduce, root, reduction.bytes, reduction.operation.code},
          [&](const NetworkPlan& plan) {
            on_stage([&](auto& stage) {
              const Peers to_other = {&endpoint_, other, 0, 0};
              collective::multinode::reduce_aggregated(stage, one_a_node(counterparts_.front()), to_other,
                                                       where, *offload_, reduction, ignored, plan);
            });
          });
}

}  // namespace espalier::runtime
