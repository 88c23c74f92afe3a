// Listens under a name, and looks for the process that does.
#include "capi/meeting/place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/format.hpp"
#include "base/hash.hpp"
#include "base/peer_user.hpp"
#include "base/token.hpp"
#include "capi/errors/error.hpp"

namespace espalier::capi {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void fail(const std::string& name, const char* call) {
  throw CodedError(ESPALIER_ERR_SYSTEM,
                   formatted("cannot meet under the name \"{}\": {}: {}", name, call, std::strerror(errno)));
}

[[noreturn]] void fail_as_used(const std::string& name) {
  throw CodedError(
      ESPALIER_ERR_SYSTEM,
      formatted("cannot meet under the name \"{}\": address already in use; is another job of this "
                "user using it?",
                name));
}

enum class Holder { none, stranger, own };

/// Who listens under a name; `connection` is one to a process of this user. None also where a process has
/// bound the name, but does not listen, or has no place in its queue.
Holder holder_of(const std::string& address_name, const std::string& name, Descriptor& connection) {
  const AbstractAddress address(address_name);
  connection = stream_socket();
  if (!connection) fail(name, "socket");
  if (connect(connection.get(), address.get(), address.length()) == 0) {
    const PeerUser user = user_at(connection.get());
    if (user == PeerUser::unknown) fail(name, "getsockopt(SO_PEERCRED)");
    return user == PeerUser::same ? Holder::own : Holder::stranger;
  }
  if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) fail(name, "connect");
  return Holder::none;
}

/// Calls `visit` with each name in /proc/net/unix that begins with `prefix`, until it returns true. Other users
/// may have made any number of sockets, so the text is read piece by piece.
template <class Visit>
void visit_names(std::string_view prefix, Visit visit) {
  const Descriptor file = open_file("/proc/net/unix", O_RDONLY);
  std::string rest;
  std::array<char, 16384> piece;
  for (;;) {
    const ssize_t bytes = file ? read(file.get(), piece.data(), piece.size()) : 0;
    if (bytes <= 0) return;
    rest.append(piece.data(), static_cast<std::size_t>(bytes));
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string found = abstract_name_in(std::string_view(rest).substr(begin, end - begin), prefix);
      if (!found.empty() && visit(found)) return;
    }
    rest.erase(0, begin);
  }
}

}  // namespace

std::string abstract_name_in(std::string_view line, std::string_view prefix) {
  const std::size_t at = line.find('@');
  if (at == std::string_view::npos || line.substr(at + 1, prefix.size()) != prefix) return "";
  const std::string_view name = line.substr(at + 1);
  return name.size() > AbstractAddress::longest ? "" : std::string(name);
}

MeetingPlace::MeetingPlace(const std::string& name)
    : name_(name),
      plain_(formatted("espalier-meet-{}-{}", geteuid(), name)),
      others_(formatted("espalier-also-{}-{:016x}-", geteuid(), hash(name))) {
  if (name.empty() || plain_.size() > AbstractAddress::longest)
    throw CodedError(ESPALIER_ERR_ARGUMENT,
                     formatted("the name \"{}\" is empty or too long; use 1 to 80 characters", name));
}

/// False: a stranger holds the plain name.
bool MeetingPlace::bind_plain(const Descriptor& listener) {
  const AbstractAddress address(plain_);
  // A job of this user that has just bound the name will listen in a moment, and one that ends frees it.
  const auto end = Clock::now() + milliseconds(200);
  for (;;) {
    if (bind(listener.get(), address.get(), address.length()) == 0) return true;
    if (errno != EADDRINUSE) fail(name_, "bind");
    Descriptor connection;
    const Holder holder = holder_of(plain_, name_, connection);
    if (holder == Holder::own) fail_as_used(name_);
    if (holder == Holder::stranger || Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
}

Descriptor MeetingPlace::listen() {
  Descriptor listener = stream_socket();
  if (!listener) fail(name_, "socket");
  if (!bind_plain(listener)) {
    if (find_other_name()) fail_as_used(name_);
    const AbstractAddress address(formatted("{}{:016x}", others_, random_token()));
    if (bind(listener.get(), address.get(), address.length()) != 0) fail(name_, "bind");
  }
  if (::listen(listener.get(), longest_queue) != 0) fail(name_, "listen");
  return listener;
}

Descriptor MeetingPlace::find() {
  Descriptor connection;
  if (holder_of(plain_, name_, connection) == Holder::own) return connection;
  if (Clock::now() < next_search_) return {};
  next_search_ = Clock::now() + milliseconds(50);
  return find_other_name();
}

Descriptor MeetingPlace::find_other_name() {
  Descriptor found;
  visit_names(others_, [&](const std::string& candidate) {
    Descriptor connection;
    if (holder_of(candidate, name_, connection) != Holder::own) return false;
    found = std::move(connection);
    return true;
  });
  return found;
}

}  // namespace espalier::capi
