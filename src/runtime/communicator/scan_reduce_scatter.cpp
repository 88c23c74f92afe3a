// Reduce_scatter(_block), scan and exscan: every rank gets a result of its own.
#include <memory>
#include <vector>

#include "base/by_rank.hpp"
#include "collective/node/reduce_zero_copy.hpp"
#include "collective/node/reduce_scatter.hpp"
#include "collective/node/reduce_whole.hpp"
#include "collective/node/scan.hpp"
#include "collective/node/scan_sliced.hpp"
#include "collective/node/scan_whole.hpp"
#include "collective/node/scatterv.hpp"
#include "runtime/communicator/node_state.hpp"
#include "runtime/multinode/multinode.hpp"

namespace espalier::runtime {

using collective::EqualBlocks;
using collective::PackedBlocks;
using collective::Prefix;
using collective::Reduction;
using plan::Algorithm;
using plan::Plan;

namespace {

void reduce_alone(const void* send, void* receive, std::size_t count, const reduce::Operation& operation) {
  if (count > 0 && send != Communicator::in_place) operation.kernel(receive, &send, 1, count);
}

/// Where blocks of so many units begin when they lie one after the other, and where the last ends.
struct Edges : ByRank<std::size_t> {
  Edges(std::span<const std::size_t> counts, std::size_t unit) : ByRank(counts.size() + 1) {
    (*this)[0] = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) (*this)[i + 1] = (*this)[i] + counts[i] * unit;
  }
  /// Blocks of one size.
  Edges(int ranks, std::size_t block) : ByRank(static_cast<std::size_t>(ranks) + 1) {
    for (std::size_t i = 0; i < size(); ++i) (*this)[i] = i * block;
  }
  std::size_t total() const { return (*this)[size() - 1]; }
};

}  // namespace

bool Communicator::reduce_scatter_block(const void* send, void* receive, std::size_t count,
                                        const reduce::Operation& operation) {
  if (!state_) {
    if (spanning_)
      return spanning_->reduce_scatter(Collective::reduce_scatter_block, send, receive,
                                       Edges(size_, count * operation.extent), operation);
    if (active_) reduce_alone(send, receive, count, operation);
    return active_;
  }
  machine::HostMachine& m = state_->machine;
  if (!collective::Cells::fit(m, static_cast<std::size_t>(size_), operation.extent)) return false;
  const EqualBlocks blocks{count * operation.extent};
  const std::size_t total = blocks.offset_of(size_);
  return state_->serve(Collective::reduce_scatter_block, total, [&](const Plan& plan) {
    const Reduction reduction = {send == in_place ? receive : send, receive, total, operation};
    if (total == 0) return;
    if (state_->lends(Collective::reduce_scatter_block, total, plan,
                      [&] { return collective::reduce_scatter_lent(m, reduction, blocks); }))
      return;
    collective::reduce_scatter(m, reduction, blocks, plan);
  });
}

bool Communicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> counts,
                                  const reduce::Operation& operation) {
  if (!state_) {
    if (spanning_)
      return spanning_->reduce_scatter(Collective::reduce_scatter, send, receive,
                                       Edges(counts, operation.extent), operation);
    if (active_) reduce_alone(send, receive, counts[0], operation);
    return active_;
  }
  machine::HostMachine& m = state_->machine;
  if (!collective::Cells::fit(m, static_cast<std::size_t>(size_), operation.extent)) return false;
  const Edges edges(counts, operation.extent);
  return state_->serve(Collective::reduce_scatter, edges.total(), [&](const Plan& plan) {
    if (edges.total() == 0) return;
    const PackedBlocks blocks{edges};
    const Reduction reduction = {send == in_place ? receive : send, receive, edges.total(), operation};
    if (state_->lends(Collective::reduce_scatter, edges.total(), plan,
                      [&] { return collective::reduce_scatter_lent(m, reduction, blocks); }))
      return;
    if (send != in_place) return collective::reduce_scatter(m, reduction, blocks, plan);
    // The result of blocks of different sizes would run over parts of the vector that are still to go.
    const std::size_t own_bytes = blocks.bytes_of(rank_);
    const std::unique_ptr<std::byte[]> result(new std::byte[own_bytes]);
    if (own_bytes > 0) std::memcpy(result.get(), receive, own_bytes);  // padding of pairs is left alone
    collective::reduce_scatter(m, {receive, result.get(), edges.total(), operation}, blocks, plan);
    copy_alone(receive, result.get(), own_bytes);
  });
}

bool Communicator::State::scan(Collective collective, const void* send, void* receive, std::size_t bytes,
                               const reduce::Operation& operation) {
  const Prefix prefix = collective == Collective::scan ? Prefix::inclusive : Prefix::exclusive;
  return serve(collective, bytes, [&](const Plan& plan) {
    const Reduction reduction = {send == in_place ? receive : send, receive, bytes, operation};
    if (plan.algorithm == Algorithm::sliced) return collective::scan_sliced(machine, reduction, prefix, plan);
    collective::scan(machine, reduction, prefix, plan);
  });
}

bool Communicator::State::scan(Collective collective, const void* send, void* receive, std::size_t bytes,
                               const UserOperation& operation) {
  const Prefix prefix = collective == Collective::scan ? Prefix::inclusive : Prefix::exclusive;
  return serve_whole(collective, bytes, 0, [&](const Plan& plan) {
    if (bytes == 0) return;
    collective::scan_whole(machine, send == in_place ? receive : send, receive, bytes, prefix,
                           {operation.combine, operation.context}, plan);
  });
}

bool Communicator::State::reduce_scatter(Collective collective, const void* send, void* receive,
                                         std::span<const std::size_t> bytes, const UserOperation& operation) {
  constexpr int root = 0;
  const Edges edges(bytes, 1);
  const std::size_t total = edges.total();
  return serve_whole(collective, total, root, [&](const Plan& plan) {
    if (total == 0) return;
    const std::unique_ptr<std::byte[]> whole(new std::byte[machine.rank() == root ? total : 0]);
    collective::reduce_whole(machine, places.contiguous(root), send == in_place ? receive : send, whole.get(),
                             total, {operation.combine, operation.context}, plan);
    const PackedBlocks blocks{edges};
    if (machine.rank() == root)
      collective::send_scatterv(machine, whole.get(), receive, blocks, plan);
    else
      collective::receive_scatterv(machine, root, receive, blocks.bytes_of(machine.rank()), plan);
  });
}

bool Communicator::scan(const void* send, void* receive, std::size_t count,
                        const reduce::Operation& operation) {
  if (state_) return state_->scan(Collective::scan, send, receive, count * operation.extent, operation);
  if (spanning_) return spanning_->scan(Collective::scan, send, receive, count, operation);
  if (active_) reduce_alone(send, receive, count, operation);
  return active_;
}

bool Communicator::exscan(const void* send, void* receive, std::size_t count,
                          const reduce::Operation& operation) {
  if (state_) return state_->scan(Collective::exscan, send, receive, count * operation.extent, operation);
  return spanning_ ? spanning_->scan(Collective::exscan, send, receive, count, operation) : active_;
}

bool Communicator::scan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) {
  if (state_) return state_->scan(Collective::scan, send, receive, bytes, operation);
  if (spanning_) return spanning_->scan(Collective::scan, send, receive, bytes, operation);
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::exscan(const void* send, void* receive, std::size_t bytes,
                          const UserOperation& operation) {
  if (state_) return state_->scan(Collective::exscan, send, receive, bytes, operation);
  return spanning_ ? spanning_->scan(Collective::exscan, send, receive, bytes, operation) : active_;
}

bool Communicator::reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                                        const UserOperation& operation) {
  if (state_)
    return state_->reduce_scatter(Collective::reduce_scatter_block, send, receive,
                                  std::vector<std::size_t>(static_cast<std::size_t>(size_), bytes),
                                  operation);
  if (spanning_)
    return spanning_->reduce_scatter(Collective::reduce_scatter_block, send, receive, Edges(size_, bytes),
                                     operation);
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> bytes,
                                  const UserOperation& operation) {
  if (state_) return state_->reduce_scatter(Collective::reduce_scatter, send, receive, bytes, operation);
  if (spanning_)
    return spanning_->reduce_scatter(Collective::reduce_scatter, send, receive, Edges(bytes, 1), operation);
  if (active_) copy_alone(receive, send, bytes[0]);
  return active_;
}

}  // namespace espalier::runtime
