// Reading another process's memory with one copy: where it lies in a heap that this process can map, else by
// the kernel (Linux cross-memory attach).
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace espalier::memory {

/// Copies `bytes` from `source` in the address space of `process` to `target` in this one. False when the
/// kernel refuses: no such right (ptrace scope, containers), no such memory; all ranks of the node know it
/// then (read_refusals.hpp), and do not ask the kernel again. Thread-safe.
bool read_remotely(pid_t process, void* target, const void* source, std::size_t bytes);
/// The same by the kernel alone, without telling others. False: errno says why.
bool read_by_kernel(pid_t process, void* target, const void* source, std::size_t bytes);

/// Whether others may read these bytes of this process: in its shared heap or, if wanted, by the kernel,
/// which does not copy from all memory (device mappings); and no rank of the node has been refused that. Of
/// memory that the kernel reads it looks at the two ends only, since a buffer lies in one mapping or in
/// several of a kind.
bool readable_remotely(const void* source, std::size_t bytes, bool by_kernel);

}  // namespace espalier::memory
