#include <algorithm>
#include <cstring>

#include "runtime/process/node.hpp"

namespace espalier::runtime {

void store_affinity(std::byte* note, std::size_t bytes, const topology::CpuSet& cpus) {
  std::memset(note, 0, bytes);
  for (int cpu = cpus.first(); cpu >= 0 && static_cast<std::size_t>(cpu) < bytes * 8; cpu = cpus.next(cpu))
    note[cpu / 8] |= std::byte{1} << (cpu % 8);
}

topology::CpuSet load_affinity(const std::byte* note, std::size_t bytes) {
  topology::CpuSet cpus;
  for (std::size_t i = 0; i < bytes; ++i)
    for (int bit = 0; note[i] != std::byte{0} && bit < 8; ++bit)
      if ((note[i] & (std::byte{1} << bit)) != std::byte{0}) cpus.set(static_cast<int>(i) * 8 + bit);
  return cpus;
}

}  // namespace espalier::runtime
