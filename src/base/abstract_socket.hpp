// Unix sockets on abstract addresses: names that stand in no file system and go with the process.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/descriptor.hpp"

namespace espalier {

/// The address that is called `name`; names longer than `longest` are cut.
class AbstractAddress {
 public:
  static constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;

  explicit AbstractAddress(std::string_view name) {
    const std::size_t length = std::min(name.size(), longest);
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path + 1, name.data(), length);  // after a zero byte: the abstract name space
    length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t length() const { return length_; }

 private:
  sockaddr_un address_{};
  socklen_t length_;
};

/// No call at it waits. None: errno says why.
inline Descriptor stream_socket() {
  return own_descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// How many may stand in the queue of a socket that listens; the system has a bound of its own (somaxconn).
inline constexpr int longest_queue = 4096;

/// The next connection to a socket that listens; no call at it waits. None: errno says why.
inline Descriptor accepted_at(const Descriptor& listener) {
  return own_descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

/// Until there is something to receive, or the other end has closed. False: errno says why (ETIMEDOUT).
inline bool wait_for(int socket, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  pollfd waiting{socket, POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int come = poll(&waiting, 1, static_cast<int>(std::max<long long>(left, 0)));
    if (come > 0) return true;
    if (come < 0 && errno != EINTR) return false;
    if (come == 0) errno = ETIMEDOUT;
    if (come == 0) return false;
  }
}

}  // namespace espalier
