#include "memory/remote_read.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "memory/peer_heaps.hpp"
#include "memory/shared_heap.hpp"

namespace espalier::memory {

bool read_remotely(pid_t process, void* target, const void* source, std::size_t bytes) {
  const std::byte* here = peer_heaps::find(process, source, bytes);
  if (!here) return read_by_kernel(process, target, source, bytes);
  std::memcpy(target, here, bytes);
  return true;
}

bool read_by_kernel(pid_t process, void* target, const void* source, std::size_t bytes) {
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

bool readable_remotely(const void* source, std::size_t bytes, bool by_kernel) {
  if (bytes == 0 || SharedHeap::holds(source, bytes)) return true;
  std::byte end;
  return by_kernel && read_by_kernel(getpid(), &end, source, 1) &&
         read_by_kernel(getpid(), &end, static_cast<const std::byte*>(source) + bytes - 1, 1);
}

}  // namespace espalier::memory
