// A communicator whose collectives are all the host's.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/persistent.hpp"

namespace espalier::runtime {

/// Its ranks did not agree to share memory, or cannot; refusal() says why.
class RefusedCommunicator final : public Communicator {
 public:
  RefusedCommunicator(int rank, int size, std::string refusal)
      : Communicator(rank, size, std::move(refusal)) {}

  bool barrier() override { return false; }
  bool bcast(void*, std::size_t, int) override { return false; }
  bool reduce(const void*, void*, std::size_t, const reduce::Operation&, int) override { return false; }
  bool allreduce(const void*, void*, std::size_t, const reduce::Operation&) override { return false; }
  bool reduce(const void*, void*, std::size_t, const UserOperation&, int) override { return false; }
  bool allreduce(const void*, void*, std::size_t, const UserOperation&) override { return false; }
  bool allgather(const void*, void*, std::size_t) override { return false; }
  bool allgatherv(const void*, void*, const Blocks&) override { return false; }
  bool allgatherv_shared(const void*, std::span<const std::size_t>, SharedResult&) override { return false; }
  bool gather(const void*, void*, std::size_t, int) override { return false; }
  bool gatherv(const void*, std::size_t, void*, const Blocks&, int) override { return false; }
  bool scatter(const void*, void*, std::size_t, int) override { return false; }
  bool scatterv(const void*, const Blocks&, void*, std::size_t, int) override { return false; }
  bool alltoall(const void*, void*, std::size_t) override { return false; }
  bool alltoallv(const void*, const Blocks&, void*, const Blocks&) override { return false; }
  bool reduce_scatter_block(const void*, void*, std::size_t, const reduce::Operation&) override {
    return false;
  }
  bool reduce_scatter(const void*, void*, std::span<const std::size_t>, const reduce::Operation&) override {
    return false;
  }
  bool scan(const void*, void*, std::size_t, const reduce::Operation&) override { return false; }
  bool exscan(const void*, void*, std::size_t, const reduce::Operation&) override { return false; }
  bool reduce_scatter_block(const void*, void*, std::size_t, const UserOperation&) override { return false; }
  bool reduce_scatter(const void*, void*, std::span<const std::size_t>, const UserOperation&) override {
    return false;
  }
  bool scan(const void*, void*, std::size_t, const UserOperation&) override { return false; }
  bool exscan(const void*, void*, std::size_t, const UserOperation&) override { return false; }
  std::unique_ptr<Persistent> prepare(const Bootstrap&, collective::PersistentSpec&, const std::string&,
                                      std::string& why) override;
};

}  // namespace espalier::runtime
