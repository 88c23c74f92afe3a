// How ranks that share no memory hear that one of them has failed in a collective: by small messages on a
// lane of their own. Ranks of a node that share memory are quicker (node_failure.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/transport.hpp"
#include "runtime/failure/node_failure.hpp"

namespace espalier::runtime {

/// Of one communicator; used by one thread at a time.
class FailureNotices {
 public:
  /// `processes`: of the communicator's ranks. `tag`: for this alone.
  FailureNotices(network::Transport& transport, std::vector<int> processes, int rank, int tag);

  /// Tells all other ranks why this one has failed in `call`. A long reason is cut. The transport may have
  /// failed itself: ranks that it does not reach are left out.
  void send(std::uint64_t call, std::string_view why) noexcept;

  /// To be called whenever a wait of `call` has looked in vain. A notice that has come is told to the ranks
  /// of the node. Throws AlreadyTold if it is of this call or an earlier one.
  void look(std::uint64_t call, NodeFailure& node) {
    if (++looks_ % looks_between == 0) [[unlikely]]
      look_by_time(call, node);
  }

 private:
  /// A probe costs the host's MPI_Iprobe, and asking for the time is not free either. On a busy machine a
  /// wait may look only every few milliseconds, so the looks alone do not say when it is time.
  static constexpr unsigned looks_between = 16;
  static constexpr std::int64_t probes_apart_ns = 2'000'000;
  void look_by_time(std::uint64_t call, NodeFailure& node);
  void probe(NodeFailure& node);

  /// What has come: which call failed, and why.
  struct Notice {
    std::uint64_t call;
    std::string why;
  };

  network::Transport& transport_;
  std::vector<int> processes_;
  int rank_, tag_;
  unsigned looks_ = 0;
  std::int64_t next_probe_ns_ = 0;
  std::optional<Notice> heard_;
};

}  // namespace espalier::runtime
