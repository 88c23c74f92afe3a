// Long blocks of gather(v), scatter(v), alltoall(v) and allgather(v) that are read where they lie, once, as
// bcast_single_copy.hpp does with whole buffers: no rank is switched in for another's next chunk. Through the
// kernel where the plan says so; without it where they lie in memory that all ranks of the node can map.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// Whether blocks may be read by the kernel, too.
inline bool by_kernel(const Plan& plan) { return plan.algorithm == plan::Algorithm::single_copy; }

/// Both sides know it, from the plan and the block alone.
inline bool is_exposed(std::size_t block, const Plan& plan) {
  return block >= plan.zero_copy || (by_kernel(plan) && block > plan.chunk && !rides_inline(block, plan));
}

/// False where others do not read there; then the block goes through the slots, from this chunk on, whose
/// line says so. Else the owner has to wait until the reader has finished the chunk's step.
template <Machine M>
bool expose_block(M& m, const void* block, std::size_t bytes, const Chunk& first, const Plan& plan) {
  m.reserve(first.steps);
  const std::uint64_t address =
      m.can_expose(block, bytes, by_kernel(plan)) ? reinterpret_cast<std::uint64_t>(block) : 0;
  std::memcpy(m.inline_buffer(Channel::gather, first.step()), &address, sizeof address);
  if (address == 0) return false;
  m.publish_block(Channel::gather, first.step(), bytes);
  return true;
}

template <Machine M>
void pull_block(M& m, int peer, void* target, std::uint64_t address, std::size_t bytes) {
  m.pull(peer, target, reinterpret_cast<const void*>(address), bytes);
}

/// What became of the blocks that this rank reads where they lie.
class ExposedBlocks {
 public:
  /// At the index-th chunk of an exposed block: whether it needs not be read from the slots. At the first one,
  /// which has been awaited, the block is read where it lies, if that may be.
  template <Machine M>
  bool is_fetched(M& m, int peer, void* target, std::size_t bytes, std::size_t index, const Chunk& chunk) {
    if (index == 0) return fetch(m, peer, target, bytes, chunk);
    return std::find(in_slots_.begin(), in_slots_.end(), peer) == in_slots_.end();
  }

 private:
  template <Machine M>
  bool fetch(M& m, int peer, void* target, std::size_t bytes, const Chunk& first) {
    std::uint64_t address;
    std::memcpy(&address, m.inline_data(Channel::gather, peer, first.step()), sizeof address);
    if (address == 0)
      in_slots_.push_back(peer);
    else
      pull_block(m, peer, target, address, bytes);
    return address != 0;
  }

  std::vector<int> in_slots_;
};

}  // namespace espalier::collective
