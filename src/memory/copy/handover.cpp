#include "memory/copy/handover.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/abstract_socket.hpp"
#include "base/format.hpp"

namespace espalier::memory {
namespace {

AbstractAddress address_of(const std::string& token) { return AbstractAddress("espalier-" + token); }

bool same_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  if (peer.uid != geteuid()) errno = EACCES;
  return peer.uid == geteuid();
}

struct Message {
  char byte = 'e';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

bool send_descriptor(int socket, int descriptor) {
  Message message;
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message.header, MSG_NOSIGNAL) == 1;
}

Descriptor receive_descriptor(int socket) {
  Message message;
  const ssize_t received = recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  if (received == 0) errno = ECONNRESET;  // the giver closed, which is no error to the system
  if (received != 1) return {};
  const cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  if (!control || control->cmsg_type != SCM_RIGHTS) {
    errno = EBADMSG;
    return {};
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
  return own_descriptor(descriptor);
}

}  // namespace

bool Handover::listen(const std::string& token, std::string& why) {
  const AbstractAddress address = address_of(token);
  listener_ = stream_socket();
  if (listener_ && bind(listener_.get(), address.get(), address.length()) == 0 &&
      ::listen(listener_.get(), 1024) == 0)
    return true;
  why = formatted("Unix socket: {}", std::strerror(errno));
  return false;
}

bool Handover::give(int descriptor, int receivers, int timeout_ms, std::string& why) {
  for (int given = 0; given < receivers;) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) <= 0) {
      why = formatted("{} of {} processes did not come for the arena within {} ms", receivers - given,
                      receivers, timeout_ms);
      return false;
    }
    const Descriptor connection = accepted_at(listener_);
    if (!connection) continue;
    limit_time(connection.get(), timeout_ms);
    // A stranger's connection is dropped and does not count.
    if (same_user(connection.get()) && send_descriptor(connection.get(), descriptor)) ++given;
  }
  return true;
}

Descriptor Handover::take(const std::string& token, int timeout_ms, std::string& why) {
  const AbstractAddress address = address_of(token);
  const Descriptor connection = stream_socket();
  Descriptor descriptor;
  if (connection) {
    limit_time(connection.get(), timeout_ms);
    if (connect(connection.get(), address.get(), address.length()) == 0 && same_user(connection.get()))
      descriptor = receive_descriptor(connection.get());
  }
  if (!descriptor) why = formatted("the node's leader did not hand the arena over: {}", std::strerror(errno));
  return descriptor;
}

}  // namespace espalier::memory
