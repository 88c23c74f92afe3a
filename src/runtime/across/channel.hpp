// Nonblocking collectives over nodes in a process: basic_channel.hpp beside what else the process has under way.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "network/spin_limits.hpp"
#include "runtime/across/basic_channel.hpp"
#include "runtime/across/patience.hpp"
#include "runtime/communicator/collective_progress.hpp"
#include "runtime/communicator/nonblocking.hpp"
#include "runtime/progress/only_thread.hpp"

namespace espalier::runtime::across {

/// Threads, shared memory and the host MPI as they are; costs nothing.
struct HostSide {
  using KeptNode = KeptNonblocking;
  using Lock = CallLock;
  using Wait = network::Wait;
  using Patience = across::Patience;
  static void fence(std::memory_order order) { std::atomic_thread_fence(order); }
  static bool has_come(bool has_come) { return has_come; }
  static bool speaks() { return true; }
  static void make_progress();
  static void note_completed();
};

extern template class BasicChannel<HostSide>;

/// One rank's end of a stream of calls. Thread-safe as Nonblocking is.
class Channel final : public CollectivesUnderWay, public BasicChannel<HostSide> {
 public:
  /// `node`: of this node's ranks; null: there is none, or no memory for it.
  static std::shared_ptr<Channel> open(std::shared_ptr<Mail> mail, int rank, int stream, KeptNonblocking node,
                                       network::SpinLimits spin_limits);
  void advance_aside() override { drive_aside(); }

 private:
  Channel(std::shared_ptr<Mail> mail, int rank, int stream, KeptNonblocking node,
          network::SpinLimits spin_limits)
      : BasicChannel(std::move(mail), rank, stream, std::move(node), spin_limits) {}
};

}  // namespace espalier::runtime::across
