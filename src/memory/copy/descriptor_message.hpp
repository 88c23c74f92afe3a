// The message that carries one descriptor over a Unix socket (SCM_RIGHTS).
#pragma once

#include <sys/socket.h>

#include "base/descriptor.hpp"

namespace espalier::memory {

/// Neither waits. False, or no descriptor: errno says why; ECONNRESET: the other end has closed.
bool send_descriptor(int socket, int descriptor);
Descriptor receive_descriptor(int socket);

/// The descriptor in a message that recvmsg() has filled. The system has opened all descriptors of the message
/// in this process: where there is not exactly one, they are closed, and errno is EBADMSG.
Descriptor descriptor_in(const msghdr& header);

}  // namespace espalier::memory
