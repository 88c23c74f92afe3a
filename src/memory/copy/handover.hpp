// One process hands a descriptor to the others of its node over a Unix socket (SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace espalier::memory {

/// What the processes of a job tell each other before a hand-over. All users can read the name of a socket
/// (/proc/net/unix), so the name alone opens nothing: who comes must know the key.
struct HandoverTicket {
  std::uint64_t token;  ///< the socket is named after it
  std::uint64_t key;
};

/// The giving side: listens on an abstract socket (no file anywhere, gone with the process). No function
/// waits. First all takers connect, then all processes tell each other so, then collect() finds every taker
/// there. So a process that has died, or that the system refuses a socket, holds up no other.
class DescriptorGiver {
 public:
  /// False: the system has no such sockets; `why` says so.
  bool listen(const HandoverTicket& ticket, std::string& why);
  /// Takes in those that have connected so far. Processes of other users, and those that do not know the key,
  /// are dropped. Where the system refuses it, all are dropped, and give() says why.
  void collect();
  /// Gives `descriptor` to the `receivers` that collect() has found. False: the system refuses it, or one is
  /// missing or gone; `why` says so.
  bool give(int descriptor, std::size_t receivers, std::string& why);

 private:
  void take_in(Descriptor connection);
  void leave();
  HandoverTicket ticket_{};
  std::string why_;
  Descriptor listener_;
  std::vector<Descriptor> takers_;
};

/// The taking side; the giver must be listening already.
class DescriptorTaker {
 public:
  explicit DescriptorTaker(const HandoverTicket& ticket) : ticket_(ticket) {}
  enum class Stand : std::int32_t {
    connected,
    full,    ///< others stand in the queue of the giver's socket: connect() again after its next collect()
    refused  ///< `why` says the reason
  };
  /// Does not wait.
  Stand connect(std::string& why);
  /// Waits for the giver's next step: its give(), or its end. Empty: `why` says the reason.
  Descriptor take(int timeout_ms, std::string& why);

 private:
  HandoverTicket ticket_;
  Descriptor connection_;
};

}  // namespace espalier::memory
