// The memory that the ranks of a node share, as one rank sees it: what another one says of a place in it is
// compared with its bounds before it is used.
#pragma once

#include <cstddef>

#include "base/error.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {

/// Another rank says what cannot be: it is broken, or has written where it must not.
[[noreturn]] inline void refuse_damaged() {
  throw Error("a rank says of a nonblocking collective what cannot be; the node's shared memory is damaged");
}

struct CallArea {
  std::byte* base;  ///< places count from here
  std::size_t bytes;

  /// So many bytes from `offset` on, where flag lines can lie.
  std::byte* at(std::size_t offset, std::size_t length) const {
    if (offset > bytes || length > bytes - offset || offset % sizeof(memory::FlagLine) != 0) [[unlikely]]
      refuse_damaged();
    return base + offset;
  }
};

}  // namespace espalier::collective
