// Allgather(v) and alltoall(v): every rank has something for every other.
#include "collective/node/allgather.hpp"
#include "collective/node/alltoall.hpp"
#include "collective/node/alltoallv.hpp"
#include "runtime/communicator/node_state.hpp"
#include "runtime/multinode/multinode.hpp"

namespace espalier::runtime {

using plan::Plan;

bool Communicator::allgather(const void* send, void* receive, std::size_t bytes) {
  if (!state_) {
    if (spanning_) return spanning_->allgather(send, receive, bytes);
    if (active_) copy_alone(receive, send, bytes);
    return active_;
  }
  return state_->serve(Collective::allgather, bytes, [&](const Plan& plan) {
    const collective::EqualBlocks blocks{bytes};
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(rank_)) : send;
    if (bytes == 0) return;
    if (state_->lends(Collective::allgather, bytes, plan, [&] {
          return collective::allgather_single_copy(state_->machine, own, receive, blocks, plan);
        }))
      return;
    collective::allgather(state_->machine, own, receive, blocks, plan);
  });
}

bool Communicator::allgatherv(const void* send, void* receive, const Blocks& blocks) {
  if (!state_) {
    if (spanning_) return spanning_->allgatherv(send, receive, blocks);
    if (active_) copy_alone(at_offset(receive, blocks.offsets[0]), send, blocks.bytes[0]);
    return active_;
  }
  const std::size_t total = collective::bytes_below(blocks, size_);
  const std::size_t mean = collective::mean_block(total, static_cast<std::size_t>(size_));
  return state_->serve(Collective::allgatherv, mean, [&](const Plan& plan) {
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(rank_)) : send;
    if (total == 0) return;
    if (state_->lends(Collective::allgatherv, mean, plan, [&] {
          return collective::allgather_single_copy(state_->machine, own, receive, blocks, plan);
        }))
      return;
    collective::allgather(state_->machine, own, receive, blocks, plan);
  });
}

bool Communicator::alltoall(const void* send, void* receive, std::size_t bytes) {
  if (!state_) {
    if (spanning_) return spanning_->alltoall(send, receive, bytes);
    if (active_) copy_alone(receive, send, bytes);
    return active_;
  }
  machine::HostMachine& m = state_->machine;
  if (!collective::Cells::fit(m, static_cast<std::size_t>(size_ - 1), 1)) return false;
  return state_->serve(Collective::alltoall, bytes * static_cast<std::size_t>(size_), [&](const Plan& plan) {
    const void* from = send == in_place ? receive : send;
    if (bytes == 0) return;
    if (state_->lends(Collective::alltoall, bytes, plan,
                      [&] { return collective::alltoall_single_copy(m, from, receive, bytes, plan); }))
      return;
    collective::alltoall(m, from, receive, bytes, plan);
  });
}

bool Communicator::alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
  if (!state_) {
    if (spanning_) return spanning_->alltoallv(send, out, receive, in);
    if (active_ && send != in_place)
      copy_alone(at_offset(receive, in.offsets[0]), at_offset(send, out.offsets[0]), out.bytes[0]);
    return active_;
  }
  machine::HostMachine& m = state_->machine;
  if (!collective::alltoallv_fits(m)) return false;
  return state_->serve(Collective::alltoallv, 0, [&](const Plan& plan) {
    if (send == in_place)
      collective::alltoallv_in_place(m, receive, in, plan);
    else
      collective::alltoallv(m, send, out, receive, in, plan);
  });
}

}  // namespace espalier::runtime
