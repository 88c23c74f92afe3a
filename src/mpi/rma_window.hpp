// One-sided access by MPI_Put, and MPI_Accumulate for the notification.
#pragma once

#include "mpi/host_window.hpp"
#include "network/window/one_sided.hpp"

namespace espalier::mpi {

/// The data have arrived before the notification leaves (MPI_Win_flush): MPI orders nothing else. So a put
/// with data and a notification waits for the target, as long as the network or the target's host takes.
class RmaWindow final : public network::OneSided {
 public:
  explicit RmaWindow(const network::OneSidedHost::Spec& spec);

  void put(int rank, std::size_t offset, const void* source, std::size_t bytes, int id,
           std::uint32_t value) override;
  void get(int rank, std::size_t offset, void* target, std::size_t bytes) override {
    data_.get(rank, offset, target, bytes);
  }
  void complete() override { data_.flush_local(); }
  bool arrived() override {
    data_.flush();
    notifications_.flush();
    return true;
  }
  bool close() override;

 private:
  HostGroup group_;
  HostWindow data_, notifications_;
};

}  // namespace espalier::mpi
