// Makes and reads the number by which processes find out whether they can read each other's memory.
#include "runtime/process/single_copy_probe.hpp"

#include <unistd.h>

#include "memory/copy/remote_read.hpp"

namespace espalier::runtime {

MemoryProbe own_probe(std::uint64_t value) {
  static std::uint64_t kept;  // other processes read it after this call
  kept = value;
  return {getpid(), reinterpret_cast<std::uint64_t>(&kept), value};
}

bool reads_memory_of(const MemoryProbe& probe) {
  std::uint64_t found = 0;
  return memory::read_by_kernel(static_cast<pid_t>(probe.process), &found,
                                reinterpret_cast<const void*>(probe.address), sizeof found) &&
         found == probe.value;
}

}  // namespace espalier::runtime
