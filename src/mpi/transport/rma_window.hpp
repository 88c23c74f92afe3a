// One-sided access by MPI_Put, and MPI_Accumulate for the notification.
#pragma once

#include <unordered_map>

#include "mpi/transport/host_window.hpp"
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
  std::uint64_t note_for(int rank, int id, std::uint32_t value);

  int rank_, size_, ids_;
  std::uint32_t puts_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> last_;  // numbers, by rank and id
  HostGroup group_;
  HostWindow data_, notifications_;
};

}  // namespace espalier::mpi
