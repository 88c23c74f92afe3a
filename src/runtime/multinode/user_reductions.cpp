// Reductions over nodes with operators that only the caller can apply: whole vectors, in packed form.
#include <cstring>

#include "collective/multinode/bcast.hpp"
#include "collective/multinode/network/prefix.hpp"
#include "collective/multinode/stage/whole_vectors.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::ContiguousPosition;
using collective::Prefix;
using collective::WholeOperation;
using network::Task;
using network::Transport;
using plan::Algorithm;
using plan::NetworkPlan;

namespace {

using Vector = std::unique_ptr<std::byte[]>;

Vector copy_of(const void* vector, std::size_t bytes) {
  Vector copy(new std::byte[bytes]);
  std::memcpy(copy.get(), vector, bytes);
  return copy;
}

void run(const network::Peers& peers, const Task& task) {
  peers.drive_until([&] { return task.done(); });
}

auto fold_right(const WholeOperation& operation) {
  return [operation](const std::byte* left, std::byte* right, std::size_t) {
    operation.combine(operation.context, left, right);
  };
}

}  // namespace

/// Ranks of the nodes are mixed, and the operator minds: a tree of neighbouring ranks, whatever their nodes.
void MultiNodeCommunicator::reduce_by_messages(const void* send, void* receive, std::size_t bytes,
                                               const UserOperation& operation, int root) {
  const ContiguousPosition position = collective::contiguous_position(nodes_.placement.ranks(), rank(), root);
  Vector own = copy_of(send, bytes);
  run(all_ranks(), collective::multinode::reduce_whole_up(all_ranks(), position, own, bytes,
                                                          {operation.combine, operation.context}));
  if (rank() == root) std::memcpy(receive, own.get(), bytes);
}

void MultiNodeCommunicator::reduce_by_nodes(const void* send, void* receive, std::size_t bytes,
                                            const UserOperation& operation, int root,
                                            const NetworkPlan& plan) {
  const WholeOperation whole = {operation.combine, operation.context};
  const Roles& mine = roles(plan, root);
  const bool leads = local_rank() == mine.leader;
  Vector partial(new std::byte[leads ? bytes : 0]);
  on_stage([&](auto& stage) { stage.reduce_whole(mine.leader, send, partial.get(), bytes, whole); });
  if (!leads) return;
  const ContiguousPosition position =
      collective::contiguous_position(nodes_.placement.nodes(), my_node(), mine.position.root);
  const Peers leaders = one_a_node(mine.leaders);
  run(leaders, collective::multinode::reduce_whole_up(leaders, position, partial, bytes, whole));
  if (rank() == root) std::memcpy(receive, partial.get(), bytes);
}

void MultiNodeCommunicator::reduce_whole(const void* send, void* receive, std::size_t bytes,
                                         const UserOperation& operation, int root, const NetworkPlan& plan) {
  if (send == Communicator::in_place) send = receive;
  if (!operation.commutative && !nodes_.placement.is_consecutive())
    reduce_by_messages(send, receive, bytes, operation, root);
  else
    reduce_by_nodes(send, receive, bytes, operation, root, plan);
}

bool MultiNodeCommunicator::reduce(const void* send, void* receive, std::size_t bytes,
                                   const UserOperation& operation, int root) {
  if (bytes > Transport::longest) return false;
  return serve_call(Algorithm::tree, {Collective::reduce, root, bytes, reduce::user_operation},
                    [&](const NetworkPlan& plan) {
                      if (bytes > 0) reduce_whole(send, receive, bytes, operation, root, plan);
                    });
}

/// Its own rule alone decides who serves it: once reduced there is no way back, in place the vector is gone.
bool MultiNodeCommunicator::allreduce(const void* send, void* receive, std::size_t bytes,
                                      const UserOperation& operation) {
  if (bytes > Transport::longest) return false;
  return serve_call(Algorithm::tree, {Collective::allreduce, 0, bytes, reduce::user_operation},
                    [&](const NetworkPlan& plan) {
                      if (bytes > 0)
                        reduce_whole_everywhere(send == Communicator::in_place ? receive : send, receive,
                                                bytes, operation, plan);
                    });
}

void MultiNodeCommunicator::reduce_whole_everywhere(const void* send, void* receive, std::size_t bytes,
                                                    const UserOperation& operation, const NetworkPlan& plan) {
  constexpr int root = 0;
  reduce_whole(send, receive, bytes, operation, root, plan);
  const NetworkPlan& down = selector_(Collective::bcast, bytes);
  on_stage([&](auto& stage) {
    collective::multinode::bcast(stage, rooted(roles(down, root)), receive, bytes, down);
  });
}

bool MultiNodeCommunicator::reduce_scatter_of(Collective collective, const void* send, void* receive,
                                              std::span<const std::size_t> edges,
                                              const UserOperation& operation) {
  const std::size_t bytes = edges.back(), own = edges[static_cast<std::size_t>(rank())];
  if (bytes > Transport::longest) return false;
  return serve_call(Algorithm::allreduce, {collective, 0, bytes, reduce::user_operation},
                    [&](const NetworkPlan&) {
                      if (bytes == 0) return;
                      std::byte* whole = whole_.of(bytes);
                      reduce_whole_everywhere(send == Communicator::in_place ? receive : send, whole, bytes,
                                              operation, selector_(Collective::allreduce, bytes));
                      const std::size_t own_bytes = edges[static_cast<std::size_t>(rank()) + 1] - own;
                      if (own_bytes > 0) std::memcpy(receive, whole + own, own_bytes);
                    });
}

/// The scan of HIER 3.5 with whole vectors.
void MultiNodeCommunicator::scan_by_nodes(Prefix prefix, const void* send, void* receive, std::size_t bytes,
                                          const UserOperation& operation, const NetworkPlan& plan) {
  const WholeOperation whole = {operation.combine, operation.context};
  const int last = static_cast<int>(nodes_.placement.size_of(my_node())) - 1;
  Vector total = copy_of(send, bytes), below(new std::byte[bytes]);
  auto* result = static_cast<std::byte*>(receive);
  on_stage([&](auto& stage) {
    stage.scan_whole(send, receive, bytes, whole, prefix);
    if (local_rank() == last) {
      if (prefix == Prefix::inclusive)
        std::memcpy(total.get(), receive, bytes);
      else if (last > 0)
        whole.combine(whole.context, receive, total.get());
      const Vector scratch(new std::byte[bytes]);
      const Peers peers = one_a_node(last_ranks_);
      run(peers, collective::multinode::exscan_doubling(
                     peers, {total.get(), below.get(), scratch.get(), bytes}, fold_right(whole)));
    }
    if (my_node() == 0) return;
    for (std::size_t done = 0; done < bytes; done += plan.segment)
      stage.bcast(last, below.get() + done, std::min(plan.segment, bytes - done));
    if (prefix == Prefix::exclusive && local_rank() == 0)
      std::memcpy(result, below.get(), bytes);
    else
      whole.combine(whole.context, below.get(), result);
  });
}

void MultiNodeCommunicator::scan_by_messages(Prefix prefix, const void* send, void* receive,
                                             std::size_t bytes, const UserOperation& operation) {
  const WholeOperation whole = {operation.combine, operation.context};
  const Vector total = copy_of(send, bytes), below(new std::byte[bytes]), scratch(new std::byte[bytes]);
  if (prefix == Prefix::inclusive && send != receive) std::memcpy(receive, send, bytes);
  run(all_ranks(), collective::multinode::exscan_doubling(
                       all_ranks(), {total.get(), below.get(), scratch.get(), bytes}, fold_right(whole)));
  if (rank() == 0) return;
  if (prefix == Prefix::inclusive)
    whole.combine(whole.context, below.get(), receive);
  else
    std::memcpy(receive, below.get(), bytes);
}

bool MultiNodeCommunicator::scan_of(Collective collective, const void* send, void* receive, std::size_t bytes,
                                    const UserOperation& operation) {
  if (bytes > Transport::longest) return false;
  const Prefix prefix = collective == Collective::scan ? Prefix::inclusive : Prefix::exclusive;
  return serve_call(Algorithm::recursive_doubling, {collective, 0, bytes, reduce::user_operation},
                    [&](const NetworkPlan& plan) {
                      if (bytes == 0) return;
                      if (send == Communicator::in_place) send = receive;
                      if (nodes_.placement.is_consecutive())
                        scan_by_nodes(prefix, send, receive, bytes, operation, plan);
                      else
                        scan_by_messages(prefix, send, receive, bytes, operation);
                    });
}

}  // namespace espalier::runtime
