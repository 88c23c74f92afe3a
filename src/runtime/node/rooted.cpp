// Bcast, gather(v) and scatter(v) on one node.
#include "collective/dispatch.hpp"
#include "collective/node/all_to_all/exchange_single_copy.hpp"
#include "runtime/communicator/local_copy.hpp"
#include "runtime/node/node_communicator.hpp"

namespace espalier::runtime {

using plan::Plan;

bool NodeCommunicator::bcast(void* buffer, std::size_t bytes, int root) {
  return state_.serve_rooted(Collective::bcast, bytes, root, [&](const Plan& plan) {
    const collective::TreePosition& position = state_.positions(plan, root).release;
    machine::HostMachine& m = state_.machine;
    if (!collective::by_kernel(plan) && state_.by_zero_copy(Collective::bcast, bytes, plan, [&] {
          return collective::bcast_where_it_lies(m, position, buffer, bytes, plan);
        }))
      return;
    collective::by_plan::bcast(m, position, buffer, bytes, plan);
  });
}

bool NodeCommunicator::gather(const void* send, void* receive, std::size_t bytes, int root) {
  return state_.serve_rooted(Collective::gather, bytes, root, [&](const Plan& plan) {
    const collective::EqualBlocks blocks{bytes};
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(root)) : send;
    machine::HostMachine& m = state_.machine;
    if (bytes == 0) return;
    const bool zero_copy = state_.by_zero_copy(Collective::gather, bytes, plan, [&] {
      return collective::all_expose(m, rank() == root || m.can_expose(send, bytes, false));
    });
    if (!zero_copy && !collective::by_kernel(plan))
      collective::gather(m, root, own, receive, bytes, plan);
    else
      collective::by_plan::gatherv(m, root, own, bytes, receive, blocks, plan);
  });
}

void NodeCommunicator::note_if_nothing_moves(std::size_t bytes) {
  if (bytes == 0 && size() == 2) [[unlikely]]
    state_.machine.begin_call(state_.mismatch_detection.note_nothing_moves());
}

std::size_t NodeCommunicator::counted_block(const Blocks& blocks, std::size_t own, int root) const {
  return rank() == root && size() == 2 ? blocks.bytes_of(1 - root) : own;
}

bool NodeCommunicator::gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks,
                               int root) {
  const std::size_t counted = counted_block(blocks, bytes, root);
  return state_.serve_counted(Collective::gatherv, root, counted, [&](const Plan& plan) {
    note_if_nothing_moves(counted);
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(root)) : send;
    collective::by_plan::gatherv(state_.machine, root, own, bytes, receive, blocks, plan);
  });
}

bool NodeCommunicator::scatter(const void* send, void* receive, std::size_t bytes, int root) {
  machine::HostMachine& m = state_.machine;
  const bool fits = collective::scatterv_fits(m);
  return state_.serve_rooted(Collective::scatter, bytes, root, [&](const Plan& plan) {
    if (bytes == 0) return;
    const collective::EqualBlocks blocks{bytes};
    if (receive == in_place)
      receive =
          const_cast<std::byte*>(at_offset(send, blocks.offset_of(root)));  // not written: it lies there
    const bool zero_copy = fits && state_.by_zero_copy(Collective::scatter, bytes, plan, [&] {
      return collective::all_expose(m, rank() != root || m.can_expose(send, blocks.offset_of(size()), false));
    });
    if (!fits || (!zero_copy && !collective::by_kernel(plan)))
      collective::scatter(m, root, send, receive, bytes, plan);
    else
      collective::by_plan::scatterv(m, root, send, blocks, receive, bytes, plan, state_.scatter_ways);
  });
}

bool NodeCommunicator::scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes,
                                int root) {
  machine::HostMachine& m = state_.machine;
  if (!collective::scatterv_fits(m)) return false;
  const std::size_t counted = counted_block(blocks, bytes, root);
  return state_.serve_counted(Collective::scatterv, root, counted, [&](const Plan& plan) {
    note_if_nothing_moves(counted);
    if (receive == in_place)
      receive =
          const_cast<std::byte*>(at_offset(send, blocks.offset_of(root)));  // not written: it lies there
    collective::by_plan::scatterv(m, root, send, blocks, receive, bytes, plan, state_.scatter_ways);
  });
}

}  // namespace espalier::runtime
