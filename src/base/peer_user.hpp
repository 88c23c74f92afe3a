// Which user is at the other end of a Unix socket.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace espalier {

/// Whether the process that connected, or that listens, is of this process's user, as the system saw it when
/// the connection was made. Ask it before a byte of the other end is used.
enum class PeerUser {
  same,
  other,   ///< errno is EACCES
  unknown  ///< the system does not say: errno says why
};
inline PeerUser user_at(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return PeerUser::unknown;
  if (peer.uid == geteuid()) return PeerUser::same;
  errno = EACCES;
  return PeerUser::other;
}

}  // namespace espalier
