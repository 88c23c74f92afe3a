// Which user is at the other end of a Unix socket.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace espalier {

/// Whether the process that connected, or that listens, is of this process's user, as the system saw it when
/// the connection was made. False: errno says why (EACCES: it is another user's). Ask it before a byte of the
/// other end is used.
inline bool is_same_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  if (peer.uid == geteuid()) return true;
  errno = EACCES;
  return false;
}

}  // namespace espalier
