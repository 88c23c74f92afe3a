// Reads another process's memory, and keeps note of refusals.
#include "memory/copy/remote_read.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/process_exists.hpp"
#include "memory/heap/peer_heaps.hpp"
#include "memory/heap/shared_heap.hpp"
#include "memory/read_refusals.hpp"
#include "memory/thread_sanitizer.hpp"

namespace espalier::memory {

bool read_remotely(pid_t process, void* target, const void* source, std::size_t bytes) {
  if (const std::byte* here = peer_heaps::find(process, source, bytes)) {
    std::memcpy(target, here, bytes);
    return true;
  }
  if (read_refusals::known(read_refusals::Way::kernel)) return false;
  if (read_by_kernel(process, target, source, bytes)) return true;
  const int why = errno;
  // A process that has ended has refused nothing: the wait for it finds that out and reports it.
  if (process_exists(process)) read_refusals::note(read_refusals::Way::kernel, process, why);
  return false;
}

bool read_by_kernel(pid_t process, void* target, const void* source, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  while (bytes > 0) {
    // The kernel moves at most 2 GiB at a time and may stop early at a page it cannot read.
    const iovec local = {to, bytes}, remote = {const_cast<std::byte*>(from), bytes};
    const ssize_t moved = process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved == 0) errno = EFAULT;
    if (moved <= 0) return false;
    tell_of_write(to, static_cast<std::size_t>(moved));
    tell_of_read(process, from, static_cast<std::size_t>(moved));
    to += moved;
    from += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

bool readable_remotely(const void* source, std::size_t bytes, bool by_kernel) {
  using read_refusals::Way;
  if (bytes == 0) return true;
  if (SharedHeap::holds(source, bytes) && !read_refusals::known(Way::heaps)) return true;
  std::byte end;
  return by_kernel && !read_refusals::known(Way::kernel) && read_by_kernel(getpid(), &end, source, 1) &&
         read_by_kernel(getpid(), &end, static_cast<const std::byte*>(source) + bytes - 1, 1);
}

}  // namespace espalier::memory
