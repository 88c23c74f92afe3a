// Reduce, allreduce and reduce_scatter(_block) on one node.
#include <memory>
#include <vector>

#include "collective/dispatch.hpp"
#include "collective/node/reductions/reduce_scatter.hpp"
#include "collective/node/reductions/reduce_whole.hpp"
#include "collective/node/reductions/reduce_zero_copy.hpp"
#include "runtime/communicator/block_edges.hpp"
#include "runtime/communicator/local_copy.hpp"
#include "runtime/node/node_communicator.hpp"

namespace espalier::runtime {

using collective::EqualBlocks;
using collective::PackedBlocks;
using collective::Reduction;
using plan::Plan;

bool NodeCommunicator::reduce(const void* send, void* receive, std::size_t count,
                              const reduce::Operation& operation, int root) {
  const std::size_t bytes = count * operation.extent;
  return state_.serve({Collective::reduce, root, bytes, operation.code}, [&](const Plan& plan) {
    const collective::Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
    collective::by_plan::reduce(state_.machine, state_.positions(plan, root).gather, reduction, plan);
  });
}

bool NodeCommunicator::allreduce(const void* send, void* receive, std::size_t count,
                                 const reduce::Operation& operation) {
  const std::size_t bytes = count * operation.extent;
  machine::HostMachine& m = state_.machine;
  return state_.serve({Collective::allreduce, 0, bytes, operation.code}, [&](const Plan& plan) {
    const collective::Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
    if (state_.by_zero_copy(Collective::allreduce, bytes, plan,
                            [&] { return collective::allreduce_zero_copy(m, reduction); }))
      return;
    collective::by_plan::allreduce(m, state_.positions, reduction, plan);
  });
}

bool NodeCommunicator::reduce(const void* send, void* receive, std::size_t bytes,
                              const UserOperation& operation, int root) {
  return state_.serve_whole(Collective::reduce, bytes, root, [&](const Plan& plan) {
    collective::reduce_whole(state_.machine, state_.positions.contiguous(root),
                             send == in_place ? receive : send, receive, bytes,
                             {operation.combine, operation.context}, plan);
  });
}

bool NodeCommunicator::allreduce(const void* send, void* receive, std::size_t bytes,
                                 const UserOperation& operation) {
  constexpr int root = 0;
  return state_.serve_whole(Collective::allreduce, bytes, root, [&](const Plan& plan) {
    machine::HostMachine& m = state_.machine;
    collective::reduce_whole(m, state_.positions.contiguous(root), send == in_place ? receive : send, receive,
                             bytes, {operation.combine, operation.context}, plan);
    collective::bcast_tree(m, state_.positions(plan, root).release, receive, bytes, plan);
  });
}

bool NodeCommunicator::reduce_scatter_block(const void* send, void* receive, std::size_t count,
                                            const reduce::Operation& operation) {
  machine::HostMachine& m = state_.machine;
  if (!collective::Cells::fit(m, static_cast<std::size_t>(size()), operation.extent)) return false;
  const EqualBlocks blocks{count * operation.extent};
  const std::size_t total = blocks.offset_of(size());
  return state_.serve({Collective::reduce_scatter_block, 0, total, operation.code}, [&](const Plan& plan) {
    const Reduction reduction = {send == in_place ? receive : send, receive, total, operation};
    if (total == 0) return;
    if (state_.by_zero_copy(Collective::reduce_scatter_block, total, plan,
                            [&] { return collective::reduce_scatter_zero_copy(m, reduction, blocks); }))
      return;
    collective::by_plan::reduce_scatter(m, reduction, blocks, plan);
  });
}

bool NodeCommunicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> counts,
                                      const reduce::Operation& operation) {
  machine::HostMachine& m = state_.machine;
  if (!collective::Cells::fit(m, static_cast<std::size_t>(size()), operation.extent)) return false;
  const BlockEdges edges(counts, operation.extent);
  return state_.serve({Collective::reduce_scatter, 0, edges.total(), operation.code}, [&](const Plan& plan) {
    if (edges.total() == 0) return;
    const PackedBlocks blocks{edges};
    const Reduction reduction = {send == in_place ? receive : send, receive, edges.total(), operation};
    if (state_.by_zero_copy(Collective::reduce_scatter, edges.total(), plan,
                            [&] { return collective::reduce_scatter_zero_copy(m, reduction, blocks); }))
      return;
    if (send != in_place) return collective::by_plan::reduce_scatter(m, reduction, blocks, plan);
    // The result of blocks of different sizes would run over parts of the vector that are still to go.
    const std::size_t own_bytes = blocks.bytes_of(rank());
    const std::unique_ptr<std::byte[]> result(new std::byte[own_bytes]);
    if (own_bytes > 0) std::memcpy(result.get(), receive, own_bytes);  // padding of pairs is left alone
    collective::by_plan::reduce_scatter(m, {receive, result.get(), edges.total(), operation}, blocks, plan);
    copy_alone(receive, result.get(), own_bytes);
  });
}

bool NodeCommunicator::reduce_and_scatter(Collective collective, const void* send, void* receive,
                                          std::span<const std::size_t> bytes,
                                          const UserOperation& operation) {
  constexpr int root = 0;
  const BlockEdges edges(bytes, 1);
  const std::size_t total = edges.total();
  return state_.serve_whole(collective, total, root, [&](const Plan& plan) {
    if (total == 0) return;
    const std::unique_ptr<std::byte[]> whole(new std::byte[state_.machine.rank() == root ? total : 0]);
    collective::reduce_whole(state_.machine, state_.positions.contiguous(root),
                             send == in_place ? receive : send, whole.get(), total,
                             {operation.combine, operation.context}, plan);
    const PackedBlocks blocks{edges};
    collective::by_plan::scatterv(state_.machine, root, whole.get(), blocks, receive,
                                  blocks.bytes_of(state_.machine.rank()), plan);
  });
}

bool NodeCommunicator::reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                                            const UserOperation& operation) {
  return reduce_and_scatter(Collective::reduce_scatter_block, send, receive,
                            std::vector<std::size_t>(static_cast<std::size_t>(size()), bytes), operation);
}

bool NodeCommunicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> bytes,
                                      const UserOperation& operation) {
  return reduce_and_scatter(Collective::reduce_scatter, send, receive, bytes, operation);
}

}  // namespace espalier::runtime
