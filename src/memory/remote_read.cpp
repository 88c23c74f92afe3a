#include "memory/remote_read.hpp"

#include <sys/uio.h>
#include <unistd.h>

namespace espalier::memory {

bool read_remotely(pid_t process, void* target, const void* source, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  while (bytes > 0) {
    // The kernel moves at most 2 GiB at a time and may stop early at a page it cannot read.
    const iovec local = {to, bytes}, remote = {const_cast<std::byte*>(from), bytes};
    const ssize_t moved = process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (moved <= 0) return false;
    to += moved;
    from += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

bool readable_remotely(const void* source, std::size_t bytes) {
  std::byte end;
  return bytes == 0 || (read_remotely(getpid(), &end, source, 1) &&
                        read_remotely(getpid(), &end, static_cast<const std::byte*>(source) + bytes - 1, 1));
}

}  // namespace espalier::memory
