// Gather(v) and scatter(v): one rank has something for, or wants something from, every other.
#include "collective/node/exchange_single_copy.hpp"
#include "collective/node/gather.hpp"
#include "collective/node/gatherv.hpp"
#include "collective/node/scatter.hpp"
#include "collective/node/scatterv.hpp"
#include "runtime/communicator/node_state.hpp"
#include "runtime/multinode/multinode.hpp"

namespace espalier::runtime {

using plan::Plan;

bool Communicator::gather(const void* send, void* receive, std::size_t bytes, int root) {
  if (!state_) {
    if (spanning_) return spanning_->gather(send, receive, bytes, root);
    if (active_) copy_alone(receive, send, bytes);
    return active_;
  }
  return state_->serve_rooted(Collective::gather, bytes, root, [&](const Plan& plan) {
    const collective::EqualBlocks blocks{bytes};
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(root)) : send;
    machine::HostMachine& m = state_->machine;
    if (bytes == 0) return;
    const bool lends = state_->lends(Collective::gather, bytes, plan, [&] {
      return collective::all_lend(m, rank_ == root || m.can_expose(send, bytes, false));
    });
    if (!lends && !collective::by_kernel(plan))
      collective::gather(m, root, own, receive, bytes, plan);
    else if (rank_ == root)
      collective::receive_gatherv(m, own, receive, blocks, plan);
    else
      collective::send_gatherv(m, root, send, bytes, plan);
  });
}

bool Communicator::gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks,
                           int root) {
  if (!state_) {
    if (spanning_) return spanning_->gatherv(send, bytes, receive, blocks, root);
    if (active_) copy_alone(at_offset(receive, blocks.offsets[0]), send, bytes);
    return active_;
  }
  return state_->serve_rooted(Collective::gatherv, 0, root, [&](const Plan& plan) {
    if (rank_ != root) return collective::send_gatherv(state_->machine, root, send, bytes, plan);
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(root)) : send;
    collective::receive_gatherv(state_->machine, own, receive, blocks, plan);
  });
}

bool Communicator::scatter(const void* send, void* receive, std::size_t bytes, int root) {
  if (!state_) {
    if (spanning_) return spanning_->scatter(send, receive, bytes, root);
    if (active_) copy_alone(receive, send, bytes);
    return active_;
  }
  machine::HostMachine& m = state_->machine;
  const bool fits = collective::scatterv_fits(m);
  return state_->serve_rooted(Collective::scatter, bytes, root, [&](const Plan& plan) {
    if (bytes == 0) return;
    const collective::EqualBlocks blocks{bytes};
    if (receive == in_place)
      receive =
          const_cast<std::byte*>(at_offset(send, blocks.offset_of(root)));  // not written: it lies there
    const bool lends = fits && state_->lends(Collective::scatter, bytes, plan, [&] {
      return collective::all_lend(m, rank_ != root || m.can_expose(send, blocks.offset_of(size_), false));
    });
    if (!fits || (!lends && !collective::by_kernel(plan)))
      collective::scatter(m, root, send, receive, bytes, plan);
    else if (rank_ == root)
      collective::send_scatterv(m, send, receive, blocks, plan, state_->scatter_ways);
    else
      collective::receive_scatterv(m, root, receive, bytes, plan);
  });
}

bool Communicator::scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes,
                            int root) {
  if (!state_) {
    if (spanning_) return spanning_->scatterv(send, blocks, receive, bytes, root);
    if (active_ && receive != in_place) copy_alone(receive, at_offset(send, blocks.offsets[0]), bytes);
    return active_;
  }
  machine::HostMachine& m = state_->machine;
  if (!collective::scatterv_fits(m)) return false;
  return state_->serve_rooted(Collective::scatterv, 0, root, [&](const Plan& plan) {
    if (rank_ != root) return collective::receive_scatterv(m, root, receive, bytes, plan);
    if (receive == in_place)
      receive =
          const_cast<std::byte*>(at_offset(send, blocks.offset_of(root)));  // not written: it lies there
    collective::send_scatterv(m, send, receive, blocks, plan, state_->scatter_ways);
  });
}

}  // namespace espalier::runtime
