// A communicator whose ranks share the memory of one node.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/nonblocking.hpp"
#include "runtime/communicator/persistent.hpp"
#include "runtime/node/shared_state.hpp"

namespace espalier::runtime {

/// The algorithms of collective/node/, chosen by plan::Selector.
class NodeCommunicator final : public Communicator {
 public:
  NodeCommunicator(const NodeShare& agreement, int rank, int size,
                   std::shared_ptr<const GroupPlans> plans = nullptr);

  SharedState& state() { return state_; }
  std::string why_host(Collective collective) const override;
  bool refuse_own_block(const machine::CallFacts& call, std::size_t sent, std::size_t expected) override;
  bool limit_waits(int timeout_ms) override;
  bool sleep_in_waits(bool on) override;
  bool set_label(std::uint16_t label) override;
  bool name_labels(std::vector<std::string> names) override;

  bool barrier() override;
  bool bcast(void* buffer, std::size_t bytes, int root) override;
  bool reduce(const void* send, void* receive, std::size_t count, const reduce::Operation& operation,
              int root) override;
  bool allreduce(const void* send, void* receive, std::size_t count,
                 const reduce::Operation& operation) override;
  bool reduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation,
              int root) override;
  bool allreduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) override;
  bool allgather(const void* send, void* receive, std::size_t bytes) override;
  bool allgatherv(const void* send, void* receive, const Blocks& blocks) override;
  bool allgatherv_shared(const void* send, std::span<const std::size_t> bytes,
                         SharedResult& shared_result) override;
  bool gather(const void* send, void* receive, std::size_t bytes, int root) override;
  bool gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks, int root) override;
  bool scatter(const void* send, void* receive, std::size_t bytes, int root) override;
  bool scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes, int root) override;
  bool alltoall(const void* send, void* receive, std::size_t bytes) override;
  bool alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) override;
  bool takes_pieces() const override { return true; }
  bool exchange_pieces(Collective collective, const collective::PieceBlocks& out,
                       const collective::PieceBlocks& in) override;
  bool reduce_scatter_block(const void* send, void* receive, std::size_t count,
                            const reduce::Operation& operation) override;
  bool reduce_scatter(const void* send, void* receive, std::span<const std::size_t> counts,
                      const reduce::Operation& operation) override;
  bool scan(const void* send, void* receive, std::size_t count, const reduce::Operation& operation) override;
  bool exscan(const void* send, void* receive, std::size_t count,
              const reduce::Operation& operation) override;
  bool reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                            const UserOperation& operation) override;
  bool reduce_scatter(const void* send, void* receive, std::span<const std::size_t> bytes,
                      const UserOperation& operation) override;
  bool scan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) override;
  bool exscan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) override;
  std::unique_ptr<Persistent> prepare(const Bootstrap& host, collective::PersistentSpec& spec,
                                      const std::string& unable, std::string& why) override;
  std::unique_ptr<PersistentMeeting> begin_to_prepare(collective::PersistentSpec& spec) override;
  Refusal refuse_to_prepare(const collective::PersistentSpec& spec) override;
  KeptNonblocking nonblocking(const collective::PersistentSpec& spec, std::string& why) override;
  void note_nonblocking(Collective collective) override {
    state_.mismatch_detection.add_nonblocking(collective);
  }
  /// Requests may keep what they have; the next communicator of these ranks begins anew.
  void forget_nonblocking() { nonblocking_.reset(); }

 private:
  // Of a call in which each rank counts for itself, for those that compare:

  /// How long this rank's block is, or, at a root of two ranks, the other's.
  std::size_t counted_block(const Blocks& blocks, std::size_t own, int root) const;
  /// What goes either way, of two ranks.
  template <class B>
  std::uint64_t counted_exchange(const B& out, const B& in) const;
  /// When the call has begun.
  void note_if_nothing_moves(std::size_t counted);
  /// Scan or exscan.
  bool scan_of(Collective collective, const void* send, void* receive, std::size_t bytes,
               const reduce::Operation& operation);
  bool scan_of(Collective collective, const void* send, void* receive, std::size_t bytes,
               const UserOperation& operation);
  /// To rank 0 as a whole, since only whole vectors can be combined, and scattered from there.
  bool reduce_and_scatter(Collective collective, const void* send, void* receive,
                          std::span<const std::size_t> bytes, const UserOperation& operation);

  /// What carries nonblocking collectives; null, on all ranks alike: there is no memory, or it is not wanted.
  KeptNonblocking lines();

  SharedState state_;
  KeptNonblocking nonblocking_;  ///< once there has been one
  std::vector<std::byte>
      kept_result_;  ///< the last result of allgatherv_shared(), where the arena had no room for it
};

}  // namespace espalier::runtime
