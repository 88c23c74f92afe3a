#include "capi/meeting.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

#include "base/abstract_socket.hpp"
#include "base/format.hpp"
#include "capi/error.hpp"
#include "espalier/espalier.h"

namespace espalier::capi {
namespace {

using Clock = std::chrono::steady_clock;

// What a rank says when it comes.
struct Greeting {
  std::int32_t rank;
  std::int32_t size;
};

AbstractAddress address_of(const std::string& name) {
  const std::string whole = formatted("espalier-meet-{}-{}", geteuid(), name);
  if (name.empty() || whole.size() > AbstractAddress::longest)
    throw CodedError(ESPALIER_ERR_ARGUMENT,
                     formatted("the name \"{}\" is empty or too long; use 1 to 80 characters", name));
  return AbstractAddress(whole);
}

[[noreturn]] void fail_transfer(const char* what, ssize_t result) {
  // Who closes with data unread resets the connection.
  if (result == 0 || errno == ECONNRESET || errno == EPIPE)
    throw CodedError(ESPALIER_ERR_SYSTEM, formatted("while {}: a rank is gone", what));
  if (errno == EAGAIN || errno == EWOULDBLOCK)
    throw CodedError(ESPALIER_ERR_TIMEOUT, formatted("while {}: a rank did not answer in time", what));
  throw CodedError(ESPALIER_ERR_SYSTEM, formatted("while {}: {}", what, std::strerror(errno)));
}

void send_all(int socket, const void* data, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = send(socket, static_cast<const char*>(data) + done, bytes - done, MSG_NOSIGNAL);
    if (n <= 0) fail_transfer("sending to a rank", n);
    done += static_cast<std::size_t>(n);
  }
}

void receive_all(int socket, void* data, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = recv(socket, static_cast<char*>(data) + done, bytes - done, 0);
    if (n <= 0) fail_transfer("receiving from a rank", n);
    done += static_cast<std::size_t>(n);
  }
}

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<long long>(left, 0));
}

}  // namespace

Meeting::Meeting(const std::string& name, int rank, int size, int timeout_ms)
    : rank_(rank), size_(size), timeout_ms_(timeout_ms), name_(name) {
  if (rank == 0)
    wait_for_all();
  else
    go_to_first();
}

void Meeting::wait_for_all() {
  const AbstractAddress address = address_of(name_);
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms_);
  const Descriptor listener = stream_socket();
  if (!listener || bind(listener.get(), address.get(), address.length()) != 0 ||
      listen(listener.get(), size_) != 0)
    throw CodedError(ESPALIER_ERR_SYSTEM,
                     formatted("cannot meet under the name \"{}\": {}; is another job using it?", name_,
                               std::strerror(errno)));
  connections_.resize(static_cast<std::size_t>(size_));
  for (int missing = size_ - 1; missing > 0; --missing) {
    pollfd waiting{listener.get(), POLLIN, 0};
    if (poll(&waiting, 1, left_ms(deadline)) <= 0)
      throw CodedError(ESPALIER_ERR_TIMEOUT, formatted("{} of {} ranks did not come to \"{}\" within {} ms",
                                                       missing, size_, name_, timeout_ms_));
    Descriptor connection = accepted_at(listener);
    if (!connection) throw CodedError(ESPALIER_ERR_SYSTEM, formatted("accept: {}", std::strerror(errno)));
    limit_time(connection.get(), timeout_ms_);
    Greeting greeting{};
    receive_all(connection.get(), &greeting, sizeof greeting);
    const bool valid = greeting.size == size_ && greeting.rank > 0 && greeting.rank < size_;
    if (!valid || connections_[static_cast<std::size_t>(greeting.rank)])
      throw CodedError(
          ESPALIER_ERR_ARGUMENT,
          formatted("rank {} of {} came to \"{}\", where {} ranks meet, {}", greeting.rank, greeting.size,
                    name_, size_, valid ? "a second time" : "which does not fit"));
    connections_[static_cast<std::size_t>(greeting.rank)] = std::move(connection);
  }
}

void Meeting::go_to_first() {
  const AbstractAddress address = address_of(name_);
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms_);
  connections_.push_back(stream_socket());
  const int connection = connections_[0].get();
  if (connection < 0)
    throw CodedError(ESPALIER_ERR_SYSTEM, formatted("a Unix socket: {}", std::strerror(errno)));
  // Rank 0 may come later than we: its name appears when it listens.
  while (connect(connection, address.get(), address.length()) != 0) {
    if (left_ms(deadline) == 0)
      throw CodedError(ESPALIER_ERR_TIMEOUT,
                       formatted("rank 0 did not come to \"{}\" within {} ms", name_, timeout_ms_));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  limit_time(connection, timeout_ms_);
  const Greeting greeting = {rank_, size_};
  send_all(connection, &greeting, sizeof greeting);
}

void Meeting::allgather(const void* mine, void* all, std::size_t bytes) {
  auto* table = static_cast<char*>(all);
  if (rank_ != 0) {
    send_all(connections_[0].get(), mine, bytes);
    receive_all(connections_[0].get(), all, bytes * static_cast<std::size_t>(size_));
    return;
  }
  std::memcpy(table, mine, bytes);
  for (int r = 1; r < size_; ++r)
    receive_all(connections_[static_cast<std::size_t>(r)].get(), table + bytes * static_cast<std::size_t>(r),
                bytes);
  for (int r = 1; r < size_; ++r)
    send_all(connections_[static_cast<std::size_t>(r)].get(), all, bytes * static_cast<std::size_t>(size_));
}

}  // namespace espalier::capi
