// When memory that ranks share goes back to the arena.
#pragma once

#include "machine/layout.hpp"
#include "memory/arena.hpp"
#include "memory/thread_sanitizer.hpp"

namespace espalier::runtime {

/// This rank uses the share no more; true for the last of its ranks, which gives it back. acq_rel: all ranks'
/// last accesses come before the share's reuse.
inline bool is_last_to_leave(const memory::Arena& arena, memory::Share share, const machine::Layout& layout) {
  memory::tell_of_leaving(arena.at(0));
  auto* life = reinterpret_cast<memory::FlagLine*>(arena.at(share.offset) + layout.life());
  const memory::Step left = life->step.fetch_add(1, std::memory_order_acq_rel) + 1;
  memory::tell_of_leaving(arena.at(0));  // again: the count was memory of the share, too
  return left == static_cast<memory::Step>(layout.ranks);
}

}  // namespace espalier::runtime
