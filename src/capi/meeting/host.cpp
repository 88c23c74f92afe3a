// Seats the ranks as they come, and gathers what they say.
#include "capi/meeting/host.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/abstract_socket.hpp"
#include "base/format.hpp"
#include "base/peer_user.hpp"
#include "capi/errors/error.hpp"
#include "capi/meeting/place.hpp"

namespace espalier::capi {
namespace {

/// More processes of this user that say nothing are a mistake: the one that came first goes.
constexpr std::size_t most_guests = 256;

/// How long rank 0 tells the ranks that come late why the meeting has failed.
constexpr auto last_words = std::chrono::milliseconds(500);

bool is_for_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }
bool is_gone(int error) { return error == EPIPE || error == ECONNRESET; }

}  // namespace

MeetingHost::MeetingHost(const std::string& name, int size, int timeout_ms)
    : Meeting(name, size, timeout_ms), listener_(MeetingPlace(name).listen()) {
  connections_.resize(static_cast<std::size_t>(size));
  wait_for_all();
  guests_.clear();
  listener_ = {};
}

template <class IsMissing>
std::string MeetingHost::names_of(IsMissing is_missing) const {
  constexpr int most = 8;
  std::string names;
  int count = 0;
  for (int rank = 1; rank < size_; ++rank)
    if (is_missing(rank) && ++count <= most) names += formatted("{}{}", names.empty() ? "" : ", ", rank);
  return (count == 1 ? "rank " : "ranks ") + names + (count > most ? ", ..." : "");
}

void MeetingHost::wait_for_all() {
  const auto is_missing = [&](int rank) { return !connections_[static_cast<std::size_t>(rank)]; };
  for (;;) {
    int missing = 0;
    std::vector<pollfd> waiting = {{listener_.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) waiting.push_back({guest.connection.get(), POLLIN, 0});
    // Of those that have come only their end counts. What they send is read later.
    for (int rank = 1; rank < size_; ++rank) {
      missing += is_missing(rank);
      if (!is_missing(rank))
        waiting.push_back({connections_[static_cast<std::size_t>(rank)].get(), POLLRDHUP, 0});
    }
    if (missing == 0) return;
    const int come = poll(waiting.data(), waiting.size(), left_ms());
    if (come < 0 && errno != EINTR) fail_call("poll");
    for (const pollfd& each : waiting) {
      if (come <= 0 || each.revents == 0 || each.events != POLLRDHUP) continue;
      for (int rank = 1; rank < size_; ++rank)
        if (connections_[static_cast<std::size_t>(rank)].get() == each.fd) fail_as_gone(rank);
    }
    if (come > 0 && waiting[0].revents != 0) accept_all();
    if (come > 0) hear_guests();
    // Also where strangers come without end.
    if (left_ms() == 0 && std::any_of(connections_.begin() + 1, connections_.end(),
                                      [](const Descriptor& each) { return !each; }))
      fail(ESPALIER_ERR_TIMEOUT, formatted("{} of {} ranks did not come to \"{}\" within {} ms: {}", missing,
                                           size_, name_, timeout_ms_, names_of(is_missing)));
  }
}

// In one go no more than a queue holds: strangers may come as fast as they are dropped.
void MeetingHost::accept_all() {
  for (int i = 0; i < longest_queue; ++i) {
    Descriptor connection = accepted_at(listener_);
    if (!connection) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      fail_call("accept4");
    }
    const PeerUser user = user_at(connection.get());
    if (user == PeerUser::unknown) fail_call("getsockopt(SO_PEERCRED)");
    if (user == PeerUser::other) continue;
    if (guests_.size() == most_guests) hear_guests();
    if (guests_.size() == most_guests) guests_.erase(guests_.begin());
    receive_guest({std::move(connection)});
  }
}

void MeetingHost::hear_guests() {
  for (Guest& guest : std::exchange(guests_, {})) receive_guest(std::move(guest));
}

void MeetingHost::receive_guest(Guest guest) {
  if (!hear(guest)) return;
  if (guest.come < sizeof guest.greeting)
    guests_.push_back(std::move(guest));
  else
    seat(guest);
}

/// Bytes that have come; 0: none yet; -1: the other end has closed.
ssize_t MeetingHost::receive_some(const Descriptor& connection, void* place, std::size_t bytes) {
  const ssize_t come = recv(connection.get(), place, bytes, MSG_DONTWAIT);
  if (come > 0) return come;
  if (come == 0 || is_gone(errno)) return -1;
  if (!is_for_later(errno)) fail_call("recv");
  return 0;
}

/// False: it is gone, or talks garbage.
bool MeetingHost::hear(Guest& guest) {
  auto* const place = reinterpret_cast<std::byte*>(&guest.greeting) + guest.come;
  const ssize_t bytes = receive_some(guest.connection, place, sizeof guest.greeting - guest.come);
  if (bytes < 0) return false;
  guest.come += static_cast<std::size_t>(bytes);
  return guest.come < sizeof guest.greeting || kind_of(guest.greeting, size_) != GreetingKind::garbage;
}

void MeetingHost::seat(Guest& guest) {
  const auto [magic, rank, size] = guest.greeting;
  const bool valid = kind_of(guest.greeting, size_) == GreetingKind::valid;
  if (valid && !connections_[static_cast<std::size_t>(rank)]) {
    connections_[static_cast<std::size_t>(rank)] = std::move(guest.connection);
    return;
  }
  connections_.push_back(std::move(guest.connection));  // it is told, too
  fail(ESPALIER_ERR_ARGUMENT, formatted("rank {} of {} came to \"{}\", where {} ranks meet, {}", rank, size,
                                        name_, size_, valid ? "a second time" : "which does not fit"));
}

void MeetingHost::allgather(const void* mine, void* all, std::size_t bytes) {
  auto* table = static_cast<std::byte*>(all);
  std::memcpy(table, mine, bytes);
  gather(table, bytes);
  for (int rank = 1; rank < size_; ++rank) {
    const FrameHead head = {data_frame, static_cast<std::uint32_t>(bytes * static_cast<std::size_t>(size_))};
    send_to(rank, &head, sizeof head);
    send_to(rank, all, head.bytes);
  }
}

void MeetingHost::gather(std::byte* table, std::size_t bytes) {
  std::vector<Incoming> incoming(static_cast<std::size_t>(size_));
  const auto is_missing = [&](int rank) {
    return incoming[static_cast<std::size_t>(rank)].come < sizeof(FrameHead) + bytes;
  };
  for (;;) {
    std::vector<pollfd> waiting;
    for (int rank = 1; rank < size_; ++rank) {
      // Of those that are here already only their end counts.
      const short events = is_missing(rank) ? POLLIN | POLLRDHUP : POLLRDHUP;
      waiting.push_back({connections_[static_cast<std::size_t>(rank)].get(), events, 0});
    }
    if (std::none_of(waiting.begin(), waiting.end(),
                     [](const pollfd& each) { return (each.events & POLLIN) != 0; }))
      return;
    const int come = poll(waiting.data(), waiting.size(), left_ms());
    if (come < 0 && errno != EINTR) fail_call("poll");
    if (come == 0)
      fail(ESPALIER_ERR_TIMEOUT,
           formatted("at \"{}\" {} did not answer within {} ms", name_, names_of(is_missing), timeout_ms_));
    for (int rank = 1; come > 0 && rank < size_; ++rank) {
      if (waiting[static_cast<std::size_t>(rank - 1)].revents == 0) continue;
      std::byte* const place = table + bytes * static_cast<std::size_t>(rank);
      if (!is_missing(rank) || !receive(rank, incoming[static_cast<std::size_t>(rank)], place, bytes))
        fail_as_gone(rank);
    }
  }
}

/// What there is. False: the rank is gone.
bool MeetingHost::receive(int rank, Incoming& incoming, std::byte* place, std::size_t bytes) {
  const bool in_head = incoming.come < sizeof incoming.head;
  std::byte* const to = in_head ? reinterpret_cast<std::byte*>(&incoming.head) + incoming.come
                                : place + (incoming.come - sizeof incoming.head);
  const std::size_t end = in_head ? sizeof incoming.head : sizeof incoming.head + bytes;
  const ssize_t come = receive_some(connections_[static_cast<std::size_t>(rank)], to, end - incoming.come);
  if (come < 0) return false;
  incoming.come += static_cast<std::size_t>(come);
  if (incoming.come >= sizeof incoming.head &&
      (incoming.head.kind != data_frame || incoming.head.bytes != bytes))
    fail(ESPALIER_ERR_SYSTEM,
         formatted(
             "at \"{}\" rank {} said something that rank 0 did not expect; use one version of Espalier on "
             "all ranks",
             name_, rank));
  return true;
}

/// A rank that is gone is found in the next gather(): then the others can still be told.
void MeetingHost::send_to(int rank, const void* data, std::size_t bytes) {
  const int socket = connections_[static_cast<std::size_t>(rank)].get();
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t sent =
        send(socket, static_cast<const std::byte*>(data) + done, bytes - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
      continue;
    }
    if (is_gone(errno)) return;
    if (!is_for_later(errno)) fail_call("send");
    pollfd waiting{socket, POLLOUT, 0};
    if (poll(&waiting, 1, left_ms()) == 0)
      fail(ESPALIER_ERR_TIMEOUT,
           formatted("at \"{}\" rank {} did not listen within {} ms", name_, rank, timeout_ms_));
  }
}

void MeetingHost::fail(int code, const std::string& text) {
  const FailureFrame failure = failure_of(code, text);
  const auto tell = [&](const Descriptor& connection) {
    if (connection) send(connection.get(), &failure, sizeof failure, MSG_NOSIGNAL | MSG_DONTWAIT);
  };
  for (const Descriptor& connection : connections_) tell(connection);
  for (const Guest& guest : guests_) tell(guest.connection);
  // Those who come later would wait for rank 0 until their time is over.
  const auto end = Clock::now() + last_words;
  while (listener_ && Clock::now() < end) {
    const Descriptor late = accepted_at(listener_);
    if (late && user_at(late.get()) == PeerUser::same) tell(late);
    if (!late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  throw CodedError(code, text);
}

void MeetingHost::fail_call(const char* call) {
  fail(ESPALIER_ERR_SYSTEM,
       formatted("cannot meet under the name \"{}\": {}: {} (rank 0)", name_, call, std::strerror(errno)));
}

void MeetingHost::fail_as_gone(int rank) {
  fail(ESPALIER_ERR_SYSTEM,
       formatted("at \"{}\" rank {} is gone: its process has ended, or has given up", name_, rank));
}

}  // namespace espalier::capi
