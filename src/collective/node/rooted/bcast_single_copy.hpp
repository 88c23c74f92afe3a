// Broadcast with one copy: the root says where its buffer lies, every rank reads it there (DESIGN, idea 2: a
// release whose data is an address). No rank waits for another's copy, which is what counts when ranks share
// cores. Machine::pull() reads it.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/core/zero_copy_blocks.hpp"
#include "collective/node/rooted/bcast.hpp"

namespace espalier::collective {

/// The root returns last: it may change its buffer only when all have read it. False, with nothing done,
/// where the other ranks cannot read it: the root finds that out and sends address 0 to all.
template <Machine M>
bool bcast_where_it_lies(M& m, const TreePosition& position, void* buffer, std::size_t bytes,
                         const Plan& plan) {
  if (bytes == 0) return true;
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  std::uint64_t address = 0;
  // Inner ranks, too, pass the address on in a line that their children may still be reading for an earlier
  // call.
  if (!position.is_leaf()) m.reserve(steps);
  if (position.is_root()) {
    if (m.can_expose(buffer, bytes, by_kernel(plan))) address = reinterpret_cast<std::uint64_t>(buffer);
    pass_down(m, position, steps, &address, sizeof address, plan);
  } else {
    std::memcpy(&address, release(m, position, steps, sizeof address, plan), sizeof address);
    if (address != 0) m.pull(position.root, buffer, reinterpret_cast<const void*>(address), bytes);
  }
  m.finish(step);
  if (address != 0 && position.is_root())
    for (const int reader : m.other_ranks()) m.await_finish(reader, step);
  return address != 0;
}

/// Through the slots where others cannot read the buffer.
template <Machine M>
void bcast_single_copy(M& m, const TreePosition& position, void* buffer, std::size_t bytes,
                       const Plan& plan) {
  if (!bcast_where_it_lies(m, position, buffer, bytes, plan)) bcast_tree(m, position, buffer, bytes, plan);
}

}  // namespace espalier::collective
