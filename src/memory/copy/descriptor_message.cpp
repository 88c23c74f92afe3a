// Sends and receives a descriptor.
#include "memory/copy/descriptor_message.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace espalier::memory {
namespace {

/// Of one byte and room for one descriptor.
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

}  // namespace

bool send_descriptor(int socket, int descriptor) {
  Message message;
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  ssize_t sent;
  do sent = sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == 1;
}

Descriptor receive_descriptor(int socket) {
  Message message;
  ssize_t received;
  do received = recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  while (received < 0 && errno == EINTR);
  if (received == 0) errno = ECONNRESET;  // the other end has closed, which is no error to the system
  return received == 1 ? descriptor_in(message.header) : Descriptor();
}

Descriptor descriptor_in(const msghdr& header) {
  const cmsghdr* control = CMSG_FIRSTHDR(&header);
  Descriptor first;
  std::size_t count = 0;
  // The length is no more than what recvmsg() has filled, but no more than the room counts either way.
  if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
      control->cmsg_len >= CMSG_LEN(0) && control->cmsg_len <= header.msg_controllen)
    count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(control) + i * sizeof number, sizeof number);
    Descriptor descriptor = own_descriptor(number);
    if (i == 0) first = std::move(descriptor);
  }
  if (count == 1 && (header.msg_flags & MSG_CTRUNC) == 0) return first;
  errno = EBADMSG;
  return {};
}

}  // namespace espalier::memory
