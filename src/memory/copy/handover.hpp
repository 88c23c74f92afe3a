// One process hands a descriptor to the others of its node over a Unix socket (SCM_RIGHTS).
#pragma once

#include <string>

#include "base/descriptor.hpp"

namespace espalier::memory {

/// The giving side: listens on an abstract socket (no file anywhere, gone with the process) named after
/// `token`, a number that only the processes of the job know. Hands the descriptor to processes of the same
/// user only.
class Handover {
 public:
  /// False: the system has no such sockets; `why` says so.
  bool listen(const std::string& token, std::string& why);
  /// Gives `descriptor` to `receivers` processes; waits for each at most `timeout_ms`. False: a rank did
  /// not come.
  bool give(int descriptor, int receivers, int timeout_ms, std::string& why);

  /// The taking side; the giver must be listening already. An empty descriptor: `why` says the reason.
  static Descriptor take(const std::string& token, int timeout_ms, std::string& why);

 private:
  Descriptor listener_;
};

}  // namespace espalier::memory
