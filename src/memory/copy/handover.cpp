// The two sides of a hand-over.
#include "memory/copy/handover.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/abstract_socket.hpp"
#include "base/format.hpp"
#include "base/peer_user.hpp"
#include "memory/copy/descriptor_message.hpp"

namespace espalier::memory {
namespace {

AbstractAddress address_of(const HandoverTicket& ticket) {
  return AbstractAddress(formatted("espalier-{:016x}", ticket.token));
}

std::string failed(const char* call) { return formatted("{}: {}", call, std::strerror(errno)); }

}  // namespace

bool DescriptorGiver::listen(const HandoverTicket& ticket, std::string& why) {
  ticket_ = ticket;
  const AbstractAddress address = address_of(ticket);
  listener_ = stream_socket();
  if (!listener_)
    why = failed("socket");
  else if (bind(listener_.get(), address.get(), address.length()) != 0)
    why = failed("bind of a Unix socket");
  else if (::listen(listener_.get(), longest_queue) != 0)
    why = failed("listen at a Unix socket");
  else
    return true;
  leave();
  return false;
}

void DescriptorGiver::collect() {
  if (!listener_) return;
  // More in one go are strangers who come as fast as they are dropped: the ranks must not wait for that.
  for (int come = 0; come < 2 * longest_queue; ++come) {
    Descriptor connection = accepted_at(listener_);
    if (connection) {
      take_in(std::move(connection));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      why_ = failed("accept4");
      return leave();
    }
  }
}

// A taker has sent the key before it said that it is connected.
void DescriptorGiver::take_in(Descriptor connection) {
  const PeerUser user = user_at(connection.get());
  if (user == PeerUser::unknown) why_ = failed("getsockopt(SO_PEERCRED)");
  if (user != PeerUser::same) return;
  std::uint64_t key = 0;
  if (recv(connection.get(), &key, sizeof key, MSG_DONTWAIT) != sizeof key || key != ticket_.key) return;
  takers_.push_back(std::move(connection));
}

bool DescriptorGiver::give(int descriptor, std::size_t receivers, std::string& why) {
  why = why_;
  if (!listener_) return false;
  if (why.empty() && takers_.size() != receivers)
    why = formatted("{} of {} processes of the node came for the shared memory", takers_.size(), receivers);
  bool sent = takers_.size() == receivers;
  for (const Descriptor& taker : takers_) {
    if (!sent) break;
    sent = send_descriptor(taker.get(), descriptor);
    if (!sent) why = failed("sendmsg to a process of the node");
  }
  leave();
  return sent;
}

// What the takers wait for ends with their connections.
void DescriptorGiver::leave() {
  listener_ = {};
  takers_.clear();
}

DescriptorTaker::Stand DescriptorTaker::connect(std::string& why) {
  if (connection_) return Stand::connected;
  const AbstractAddress address = address_of(ticket_);
  Descriptor connection = stream_socket();
  if (!connection) {
    why = failed("socket");
  } else if (::connect(connection.get(), address.get(), address.length()) != 0) {
    if (errno == EAGAIN) return Stand::full;
    why = failed("connect to the node's first rank");
  } else if (user_at(connection.get()) != PeerUser::same) {
    why = failed("getsockopt(SO_PEERCRED) of the node's first rank");
  } else if (send(connection.get(), &ticket_.key, sizeof ticket_.key, MSG_NOSIGNAL) != sizeof ticket_.key) {
    why = failed("send to the node's first rank");
  } else {
    connection_ = std::move(connection);
    return Stand::connected;
  }
  return Stand::refused;
}

Descriptor DescriptorTaker::take(int timeout_ms, std::string& why) {
  if (!connection_) return {};
  Descriptor descriptor;
  if (wait_for(connection_.get(), timeout_ms)) descriptor = receive_descriptor(connection_.get());
  connection_.close();
  if (!descriptor)
    why = errno == ECONNRESET ? "the node's first rank has given up, or is gone"
                              : failed("recvmsg from the node's first rank");
  return descriptor;
}

}  // namespace espalier::memory
