// A communicator of one rank.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/persistent.hpp"

namespace espalier::runtime {

/// Nothing to share, nothing to wait for: each collective copies this rank's data where they belong.
class SelfCommunicator final : public Communicator {
 public:
  SelfCommunicator() : Communicator(0, 1) {}

  bool limit_waits(int) override { return true; }
  bool sleep_in_waits(bool) override { return true; }
  bool set_label(std::uint16_t) override { return true; }
  bool name_labels(std::vector<std::string>) override { return true; }
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
  std::unique_ptr<Persistent> prepare(const Bootstrap& bootstrap, collective::PersistentSpec& spec,
                                      const std::string& unable, std::string& why) override;
  std::unique_ptr<SeparateCall> prepare_across(const collective::PersistentSpec& spec,
                                               const reduce::Operation* operation, const std::string& unable,
                                               std::string& why) override;

 private:
  std::vector<std::byte> kept_result_;  ///< the last result of allgatherv_shared()
};

}  // namespace espalier::runtime
