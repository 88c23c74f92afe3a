// Mapping of memory by system calls alone, for what runs while a process forks.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

// mmap() and its like may be another library's: the memory hooks of UCX, which hosts use, and those of tools
// take locks in them. In a child of fork() such a lock stays taken if another thread of the parent held it.
namespace espalier::memory::kernel {

/// As mmap().
inline void* map(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

/// As mremap(), to `address`, in place of what is there.
inline void move(void* from, std::size_t bytes, void* address) {
  syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, address);
}

/// As munmap().
inline void unmap(void* address, std::size_t bytes) { syscall(SYS_munmap, address, bytes); }

}  // namespace espalier::memory::kernel
