// The ranks of a meeting other than 0, and what both kinds have in common.
#include "capi/meeting/meeting.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/format.hpp"
#include "capi/errors/error.hpp"
#include "capi/meeting/frames.hpp"
#include "capi/meeting/host.hpp"
#include "capi/meeting/place.hpp"

namespace espalier::capi {
namespace {

class MeetingGuest : public Meeting {
 public:
  MeetingGuest(const std::string& name, int rank, int size, int timeout_ms);
  void allgather(const void* mine, void* all, std::size_t bytes) override;

 private:
  void send_all(const void* data, std::size_t bytes);
  void receive_all(void* data, std::size_t bytes);
  void wait(short event);
  [[noreturn]] void fail(const char* call);
  [[noreturn]] void tell_failure(const FrameHead& head);
  Descriptor connection_;  // to rank 0
};

MeetingGuest::MeetingGuest(const std::string& name, int rank, int size, int timeout_ms)
    : Meeting(name, size, timeout_ms) {
  MeetingPlace place(name);
  // Rank 0 may come later than we: its name appears when it listens.
  while (!(connection_ = place.find())) {
    if (left_ms() == 0)
      throw CodedError(ESPALIER_ERR_TIMEOUT,
                       formatted("rank 0 did not come to \"{}\" within {} ms", name, timeout_ms));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const Greeting greeting = {greeting_magic, rank, size};
  send_all(&greeting, sizeof greeting);
}

void MeetingGuest::allgather(const void* mine, void* all, std::size_t bytes) {
  const FrameHead mine_head = {data_frame, static_cast<std::uint32_t>(bytes)};
  send_all(&mine_head, sizeof mine_head);
  send_all(mine, bytes);
  FrameHead head{};
  receive_all(&head, sizeof head);
  if (is_failure(head)) tell_failure(head);
  if (head.kind != data_frame || head.bytes != bytes * static_cast<std::size_t>(size_))
    throw CodedError(
        ESPALIER_ERR_SYSTEM,
        formatted("at \"{}\" rank 0 said something that was not expected; use one version of Espalier "
                  "on all ranks",
                  name_));
  receive_all(all, head.bytes);
}

void MeetingGuest::wait(short event) {
  // Rank 0 has its own deadline, and then says which rank it has waited for.
  constexpr int grace_ms = 1000;
  const auto over = Clock::now() - deadline_;
  const auto late_ms = std::chrono::duration_cast<std::chrono::milliseconds>(over).count();
  pollfd waiting{connection_.get(), event, 0};
  const int come = poll(&waiting, 1, static_cast<int>(std::max<long long>(grace_ms - late_ms, 0)));
  if (come == 0)
    throw CodedError(ESPALIER_ERR_TIMEOUT,
                     formatted("at \"{}\" rank 0 did not answer within {} ms", name_, timeout_ms_));
  if (come < 0 && errno != EINTR) fail("poll");
}

void MeetingGuest::send_all(const void* data, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t sent = send(connection_.get(), static_cast<const std::byte*>(data) + done, bytes - done,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      done += static_cast<std::size_t>(sent);
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      wait(POLLOUT);
    else if (errno == EPIPE || errno == ECONNRESET)
      return;  // what rank 0 has said before it left is still there
    else if (errno != EINTR)
      fail("send");
  }
}

void MeetingGuest::receive_all(void* data, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t come =
        recv(connection_.get(), static_cast<std::byte*>(data) + done, bytes - done, MSG_DONTWAIT);
    if (come > 0)
      done += static_cast<std::size_t>(come);
    else if (come == 0 || errno == ECONNRESET)
      throw CodedError(ESPALIER_ERR_SYSTEM,
                       formatted("at \"{}\" rank 0 is gone: its process has ended, or has given up", name_));
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      wait(POLLIN);
    else if (errno != EINTR)
      fail("recv");
  }
}

void MeetingGuest::fail(const char* call) {
  throw CodedError(ESPALIER_ERR_SYSTEM, formatted("at \"{}\": {}: {}", name_, call, std::strerror(errno)));
}

void MeetingGuest::tell_failure(const FrameHead& head) {
  FailureFrame failure{};
  failure.head = head;
  receive_all(reinterpret_cast<std::byte*>(&failure) + sizeof head, sizeof failure - sizeof head);
  throw CodedError(failure.code, text_of(failure));
}

}  // namespace

std::unique_ptr<Meeting> Meeting::meet(const std::string& name, int rank, int size, int timeout_ms) {
  if (rank == 0) return std::make_unique<MeetingHost>(name, size, timeout_ms);
  return std::make_unique<MeetingGuest>(name, rank, size, timeout_ms);
}

int Meeting::left_ms() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
  return static_cast<int>(std::max<long long>(left, 0));
}

}  // namespace espalier::capi
