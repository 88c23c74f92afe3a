#include "sharp/tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/format.hpp"

namespace espalier::sharp {
namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses addresses_of(const std::string& host, const std::string& port, std::string& why) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  const int code = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
  if (code != 0) why = formatted("no such host ({})", gai_strerror(code));
  return {code == 0 ? found : nullptr, freeaddrinfo};
}

// 0, or errno's value.
int outcome_of(int socket, Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{socket, POLLOUT, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::max<long long>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
  }
}

int connect_within(int socket, const addrinfo& address, Clock::time_point until) {
  if (connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  return errno == EINPROGRESS || errno == EINTR ? outcome_of(socket, until) : errno;
}

void set(int socket, int level, int option, int value) {
  // Of a peer that is gone already the first read tells.
  setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace

Descriptor connected_to(const std::string& host, const std::string& port, std::chrono::milliseconds patience,
                        std::string& why) {
  const auto until = Clock::now() + patience;
  const Addresses addresses = addresses_of(host, port, why);
  for (const addrinfo* address = addresses.get(); address; address = address->ai_next) {
    const int type = address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
    Descriptor connection = own_descriptor(socket(address->ai_family, type, address->ai_protocol));
    const int error = connection ? connect_within(connection.get(), *address, until) : errno;
    if (error == 0) return connection;
    why = formatted("cannot be reached ({})", std::strerror(error));
  }
  return {};
}

void tune(int socket, int seconds) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds / 2 + 1);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, seconds / 4 + 1);
}

}  // namespace espalier::sharp
