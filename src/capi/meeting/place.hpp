// Where the ranks of a meeting find rank 0: abstract Unix sockets that carry the user and the common name.
#pragma once

#include <chrono>
#include <string>

#include "base/abstract_socket.hpp"
#include "base/descriptor.hpp"

namespace espalier::capi {

/// Any user may bind a name that he can guess, and connect to one that he can read in /proc/net/unix. So both
/// ends ask the system for the other's user before they use a byte. Where a stranger holds the plain name, rank
/// 0 listens under another one with a random end, which the others find in /proc/net/unix.
class MeetingPlace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws CodedError where the name is empty or too long.
  explicit MeetingPlace(const std::string& name);

  /// Of rank 0: a socket that listens. Throws CodedError where the system refuses it, or where another job of
  /// this user meets under the name.
  Descriptor listen();

  /// Of the others: a connection to a process of this user that listens. Empty: it is not there yet. Does not
  /// wait. Throws CodedError where the system refuses it.
  Descriptor find();

 private:
  bool bind_plain(const Descriptor& listener);
  Descriptor find_other_name();

  std::string name_;
  std::string plain_, others_;  // the plain name; how the other names begin
  Clock::time_point next_search_{};
};

/// The name in one line of /proc/net/unix, without the @; empty: the line has none that begins with `prefix`.
std::string abstract_name_in(std::string_view line, std::string_view prefix);

}  // namespace espalier::capi
