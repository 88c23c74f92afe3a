// Whether the processes of a node may read each other's memory: tried, not assumed.
#pragma once

#include <cstdint>

namespace espalier::runtime {

/// Where a process keeps a number that only it knows. Plain bytes: lies in shared memory.
struct MemoryProbe {
  std::int64_t process;
  std::uint64_t address;
  std::uint64_t value;
};

/// This process's probe; `value` must be hard to guess, so that a foreign process with the same id
/// (containers with process id spaces of their own) is not taken for the right one.
MemoryProbe own_probe(std::uint64_t value);

/// Reads a probe the way the collectives will read: about a microsecond.
bool reads_memory_of(const MemoryProbe& probe);

}  // namespace espalier::runtime
