// Unix sockets on abstract addresses: names that stand in no file system and go with the process.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
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

/// None: errno says why.
inline Descriptor stream_socket() { return own_descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

/// The next connection to a socket that listens; none: errno says why.
inline Descriptor accepted_at(const Descriptor& listener) {
  return own_descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

/// No send or receive on this socket waits longer.
inline void limit_time(int socket, int timeout_ms) {
  const timeval limit{timeout_ms / 1000, (timeout_ms % 1000) * 1000L};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace espalier
