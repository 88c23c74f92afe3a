// Nonblocking and persistent reductions of ESPALIER_REPRODUCIBLE that Espalier's own schedules do not serve, as over
// nodes: the host moves all vectors to all ranks in the background, and they are folded here at completion.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "collective/schedule/persistent_spec.hpp"
#include "mpi/abi/abi.hpp"
#include "network/spin_limits.hpp"
#include "runtime/communicator/separate_call.hpp"

namespace espalier::mpi {

/// One of a program's requests.
class MovedByHost final : public runtime::SeparateCall {
 public:
  enum class Use { once, again };
  /// Local, but `again` is collective; throws Error where the host cannot do it. `spec` is a reduction's, its buffers the program's.
  MovedByHost(Use use, const collective::PersistentSpec& spec, const std::byte* vector,
              const reduce::Operation& operation, int ranks, MPI_Comm comm);
  ~MovedByHost() override;

  bool active() const override { return active_; }
  void start() override;
  bool is_ready() override;
  void complete() override;

 private:
  void use_own_communicator();
  void fold();

  Use use_;
  collective::Schedule::Fold fold_;
  std::size_t folded_from_;
  const std::byte* vector_;
  std::size_t bytes_;
  const reduce::Operation& operation_;
  MPI_Comm comm_;
  std::unique_ptr<std::byte[]> all_;  ///< the vectors, by rank
  std::vector<const void*> sources_;
  MPI_Datatype element_{};  ///< of the host's calls
  bool owns_element_ = false;
  int count_ = 0;
  MPI_Request request_{};
  bool active_ = false;
  network::Wait polls_;  ///< since the start
};

}  // namespace espalier::mpi
