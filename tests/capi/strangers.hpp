// Processes that play a rank, or a stranger, at the socket of a meeting.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

namespace espalier::testing {

/// The address that a meeting of `user` has under `name`.
struct MeetingAddress {
  sockaddr_un address{AF_UNIX, {}};
  socklen_t length;
  MeetingAddress(uid_t user, const std::string& name) {
    const std::string whole = "espalier-meet-" + std::to_string(user) + "-" + name;
    whole.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + whole.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// A connection to the meeting, once it is there.
inline int connection_to(uid_t user, const std::string& name) {
  const MeetingAddress address(user, name);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  while (connect(socket, address.get(), address.length) != 0) usleep(1000);
  return socket;
}

/// What a rank says when it comes, and then nothing more.
inline int greet(const std::string& name, std::int32_t rank, std::int32_t size) {
  const int socket = connection_to(geteuid(), name);
  const std::int32_t greeting[] = {0x6d656574, rank, size};
  EXPECT_EQ(send(socket, greeting, sizeof greeting, 0), static_cast<ssize_t>(sizeof greeting));
  return socket;
}

/// Waits until so many ranks are connected to rank 0, and some time for what they say and hear then. The kernel's table has each
/// of rank 0's ends under the meeting's name, in state 3.
inline void await_ranks(const std::string& name, int count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int connected = -1; connected < count; usleep(5000)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << connected << " ranks have come";
    connected = 0;
    std::ifstream table("/proc/net/unix");
    for (std::string line; std::getline(table, line);)
      connected += line.ends_with("-" + name) && line.find(" 03 ") != std::string::npos;
  }
  usleep(300'000);
}

/// A socket that has the meeting's name before rank 0 comes; false: it only binds it.
inline int take_name(uid_t user, const std::string& name, bool listens) {
  const MeetingAddress address(user, name);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(bind(socket, address.get(), address.length), 0);
  if (listens) {
    EXPECT_EQ(listen(socket, 8), 0);
  }
  return socket;
}

}  // namespace espalier::testing
