// Bcast, gather(v) and scatter(v) over nodes.
#include "collective/multinode/bcast.hpp"
#include "collective/multinode/gather.hpp"
#include "collective/multinode/scatter.hpp"
#include "runtime/multinode/serve.hpp"

namespace espalier::runtime {

using collective::EqualBlocks;
using collective::multinode::RootedBlocks;
using plan::NetworkPlan;

bool MultiNodeCommunicator::bcast(void* buffer, std::size_t bytes, int root) {
  return serve_rooted(Collective::bcast, bytes, root, [&](const NetworkPlan& plan) {
    on_stage([&](auto& stage) {
      collective::multinode::bcast(stage, rooted(roles(plan, root)), buffer, bytes, plan);
    });
  });
}

bool MultiNodeCommunicator::slots_hold(std::size_t head_for_each_rank) const {
  const auto ranks = static_cast<int>(nodes_.placement.largest());
  const machine::Layout layout = layout_for(ranks);
  return (static_cast<std::size_t>(ranks) + 1) * head_for_each_rank <=
         static_cast<std::size_t>(layout.slots) * layout.slot_bytes;
}

template <class B>
bool MultiNodeCommunicator::gather_blocks(Collective collective, const void* send, std::size_t bytes,
                                          void* receive, const B& blocks, int root) {
  constexpr bool equal = std::is_same_v<B, EqualBlocks>;
  return serve_rooted(collective, equal ? bytes : 0, root, [&](const NetworkPlan& plan) {
    const RootedBlocks call = {rank(), root, nodes_.placement, plan.segment, equal};
    if (equal && bytes == 0) return;
    on_stage([&](auto& stage) {
      if (rank() != root)
        return collective::multinode::gather_from_here(stage, all_ranks().on(0), call, send, bytes,
                                                       [&](std::size_t room) { return whole_.of(room); });
      const void* own = send == Communicator::in_place ? at_offset(receive, blocks.offset_of(root)) : send;
      collective::multinode::gather_at_root(stage, all_ranks().on(0), call, own, receive, blocks,
                                            whole_.of(collective::multinode::all_short_blocks(call, blocks)));
    });
  });
}

template <class B>
bool MultiNodeCommunicator::scatter_blocks(Collective collective, const void* send, const B& blocks,
                                           void* receive, std::size_t bytes, int root) {
  constexpr bool equal = std::is_same_v<B, EqualBlocks>;
  return serve_rooted(collective, equal ? bytes : 0, root, [&](const NetworkPlan& plan) {
    const RootedBlocks call = {rank(), root, nodes_.placement, plan.segment, equal};
    if (equal && bytes == 0) return;
    on_stage([&](auto& stage) {
      if (rank() != root)
        return collective::multinode::scatter_to_here(stage, all_ranks().on(0), call, receive, bytes,
                                                      [&](std::size_t room) { return whole_.of(room); });
      void* own = receive;
      if (receive == Communicator::in_place)  // the root's block is there already, and is not written
        own = const_cast<std::byte*>(at_offset(send, blocks.offset_of(root)));
      collective::multinode::scatter_at_root(
          stage, all_ranks().on(0), call, send, own, blocks,
          whole_.of(collective::multinode::all_short_blocks(call, blocks)));
    });
  });
}

bool MultiNodeCommunicator::gather(const void* send, void* receive, std::size_t bytes, int root) {
  return gather_blocks(Collective::gather, send, bytes, receive, EqualBlocks{bytes}, root);
}

bool MultiNodeCommunicator::gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks,
                                    int root) {
  return gather_blocks(Collective::gatherv, send, bytes, receive, blocks, root);
}

bool MultiNodeCommunicator::scatter(const void* send, void* receive, std::size_t bytes, int root) {
  if (!slots_hold(sizeof(std::uint64_t))) return false;
  return scatter_blocks(Collective::scatter, send, EqualBlocks{bytes}, receive, bytes, root);
}

bool MultiNodeCommunicator::scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes,
                                     int root) {
  if (!slots_hold(sizeof(std::uint64_t))) return false;
  return scatter_blocks(Collective::scatterv, send, blocks, receive, bytes, root);
}

}  // namespace espalier::runtime
