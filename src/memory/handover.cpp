#include "memory/handover.hpp"

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

int receive_descriptor(int socket) {
  Message message;
  const ssize_t received = recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  if (received == 0) errno = ECONNRESET;  // the giver closed, which is no error to the system
  if (received != 1) return -1;
  const cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  if (!control || control->cmsg_type != SCM_RIGHTS) {
    errno = EBADMSG;
    return -1;
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
  return descriptor;
}

}  // namespace

Handover::~Handover() {
  if (listener_ >= 0) close(listener_);
}

bool Handover::listen(const std::string& token, std::string& why) {
  const AbstractAddress address = address_of(token);
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ >= 0 && bind(listener_, address.get(), address.length()) == 0 &&
      ::listen(listener_, 1024) == 0)
    return true;
  why = formatted("Unix socket: {}", std::strerror(errno));
  return false;
}

bool Handover::give(int descriptor, int receivers, int timeout_ms, std::string& why) {
  for (int given = 0; given < receivers;) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) <= 0) {
      why = formatted("{} of {} processes did not come for the arena within {} ms", receivers - given,
                      receivers, timeout_ms);
      return false;
    }
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    limit_time(connection, timeout_ms);
    // A stranger's connection is dropped and does not count.
    if (same_user(connection) && send_descriptor(connection, descriptor)) ++given;
    close(connection);
  }
  return true;
}

int Handover::take(const std::string& token, int timeout_ms, std::string& why) {
  const AbstractAddress address = address_of(token);
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int descriptor = -1;
  if (connection >= 0) {
    limit_time(connection, timeout_ms);
    if (connect(connection, address.get(), address.length()) == 0 && same_user(connection))
      descriptor = receive_descriptor(connection);
  }
  if (descriptor < 0)
    why = formatted("the node's leader did not hand the arena over: {}", std::strerror(errno));
  if (connection >= 0) close(connection);
  return descriptor;
}

}  // namespace espalier::memory
