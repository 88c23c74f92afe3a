// Memory that the ranks of a node have in common, beyond their slots.
#pragma once

#include <cstddef>

#include "base/error.hpp"
#include "collective/multinode/allgather_shared.hpp"
#include "memory/arena.hpp"

namespace espalier::runtime {

/// A piece of the node's arena that grows when more is needed, and goes back with its communicator.
struct NodeArea {
  memory::Share share;  ///< none: no memory yet
  collective::multinode::SharedArea area;

  /// Collective over the ranks of the node; the former memory is free once all of them have finished with it.
  /// False on all of them when the arena has no more: then there is no memory at all.
  /// `machine`: theirs. `tell(data, bytes)`: from their rank 0 to all.
  template <class M, class Tell>
  bool grow(M& machine, memory::Arena& arena, std::size_t bytes, Tell tell) {
    std::uint64_t offset = 0;
    if (machine.rank() == 0) {
      for (const int peer : machine.other_ranks()) machine.await_finish(peer, area.last);
      offset = replace(arena, bytes);
    }
    tell(&offset, sizeof offset);
    if (offset != 0 && !arena.holds({offset, bytes}))
      throw Error("rank 0 offers memory that the node does not have");
    share = offset == 0 ? memory::Share{} : memory::Share{offset, bytes};
    area.memory = offset == 0 ? nullptr : arena.at(offset);
    area.bytes = offset == 0 ? 0 : bytes;
    if (share) arena.share_with_children(share);  // results that are exposed lie there
    return offset != 0;
  }

 private:
  // 0: there is no memory.
  std::uint64_t replace(memory::Arena& arena, std::size_t bytes) const {
    if (share) arena.free(share);
    const memory::Share fresh = arena.allocate(bytes);
    if (fresh && arena.reserve(fresh, 0, bytes)) return fresh.offset;
    if (fresh) arena.free(fresh);
    return 0;
  }
};

}  // namespace espalier::runtime
