// Allgather(v) and alltoall(v) on one node.
#include <algorithm>
#include <limits>

#include "base/by_rank.hpp"
#include "collective/dispatch.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "runtime/communicator/local_copy.hpp"
#include "runtime/node/node_communicator.hpp"

namespace espalier::runtime {

using plan::Plan;

bool NodeCommunicator::allgather(const void* send, void* receive, std::size_t bytes) {
  return state_.serve(Collective::allgather, bytes, [&](const Plan& plan) {
    const collective::EqualBlocks blocks{bytes};
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(rank())) : send;
    if (bytes == 0) return;
    if (state_.by_zero_copy(Collective::allgather, bytes, plan, [&] {
          return collective::allgather_single_copy(state_.machine, own, receive, blocks, plan);
        }))
      return;
    collective::by_plan::allgather(state_.machine, state_.positions, own, receive, blocks, plan);
  });
}

bool NodeCommunicator::allgatherv(const void* send, void* receive, const Blocks& blocks) {
  const std::size_t total = collective::bytes_below(blocks, size());
  const std::size_t mean = collective::mean_block(total, static_cast<std::size_t>(size()));
  return state_.serve(Collective::allgatherv, mean, [&](const Plan& plan) {
    const void* own = send == in_place ? at_offset(receive, blocks.offset_of(rank())) : send;
    if (total == 0) return;
    if (state_.by_zero_copy(Collective::allgatherv, mean, plan, [&] {
          return collective::allgather_single_copy(state_.machine, own, receive, blocks, plan);
        }))
      return;
    collective::by_plan::allgather(state_.machine, state_.positions, own, receive, blocks, plan);
  });
}

bool NodeCommunicator::alltoall(const void* send, void* receive, std::size_t bytes) {
  machine::HostMachine& m = state_.machine;
  if (!collective::Cells::fit(m, static_cast<std::size_t>(size() - 1), 1)) return false;
  return state_.serve(Collective::alltoall, bytes * static_cast<std::size_t>(size()), [&](const Plan& plan) {
    const void* from = send == in_place ? receive : send;
    if (bytes == 0) return;
    if (state_.by_zero_copy(Collective::alltoall, bytes, plan,
                            [&] { return collective::alltoall_single_copy(m, from, receive, bytes, plan); }))
      return;
    collective::by_plan::alltoall(m, from, receive, bytes, plan);
  });
}

// Of more ranks each says in shared memory what it has for whom.
template <class B>
std::uint64_t NodeCommunicator::counted_exchange(const B& out, const B& in) const {
  if (size() != 2) return 0;
  const int other = 1 - rank();
  return CallRecords::both({out.bytes_of(other), in.bytes_of(other)});
}

bool NodeCommunicator::alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
  machine::HostMachine& m = state_.machine;
  if (!collective::alltoallv_fits(m)) return false;
  const std::uint64_t counted = counted_exchange(send == in_place ? in : out, in);
  return state_.serve_counted(Collective::alltoallv, 0, counted, [&](const Plan& plan) {
    note_if_nothing_moves(counted);
    if (send == in_place)
      collective::alltoallv_in_place(m, receive, in, plan);
    else
      collective::alltoallv(m, send, out, receive, in, plan);
  });
}

namespace {

/// Blocks in pieces of which each is dense and in one piece, if they are so: the usual call, which then is an
/// alltoallv.
class DenseSide {
 public:
  explicit DenseSide(const collective::PieceBlocks& blocks) : blocks_(blocks), offsets_(blocks.bytes.size()) {
    // Offsets count from the lowest of all blocks.
    std::uintptr_t lowest = std::numeric_limits<std::uintptr_t>::max();
    for (std::size_t rank = 0; rank < offsets_.size() && is_dense_; ++rank) {
      offsets_[rank] = 0;
      if (blocks.bytes[rank] == 0) continue;
      offsets_[rank] = reinterpret_cast<std::uintptr_t>(dense_address(blocks.block(static_cast<int>(rank))));
      is_dense_ = offsets_[rank] != 0;
      lowest = std::min(lowest, offsets_[rank]);
    }
    for (std::size_t rank = 0; rank < offsets_.size() && is_dense_; ++rank)
      if (blocks.bytes[rank] > 0) offsets_[rank] -= lowest;
    if (lowest != std::numeric_limits<std::uintptr_t>::max()) base_ = reinterpret_cast<std::byte*>(lowest);
  }
  bool is_dense() const { return is_dense_; }
  std::byte* base() const { return base_; }
  Blocks blocks() const { return {blocks_.bytes, {offsets_.begin(), offsets_.size()}}; }

 private:
  const collective::PieceBlocks& blocks_;
  ByRank<std::uintptr_t> offsets_;
  std::byte* base_ = nullptr;
  bool is_dense_ = true;
};

}  // namespace

bool NodeCommunicator::exchange_pieces(Collective collective, const collective::PieceBlocks& out,
                                       const collective::PieceBlocks& in) {
  machine::HostMachine& m = state_.machine;
  if (!collective::alltoallv_fits(m)) return false;
  const std::uint64_t counted = counted_exchange(out, in);
  return state_.serve_counted(collective, 0, counted, [&](const Plan& plan) {
    note_if_nothing_moves(counted);
    const DenseSide send(out), receive(in);
    if (send.is_dense() && receive.is_dense())
      collective::alltoallv(m, send.base(), send.blocks(), receive.base(), receive.blocks(), plan);
    else
      collective::alltoallv(m, out, in, plan);
  });
}

}  // namespace espalier::runtime
