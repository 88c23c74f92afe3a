#include "machine/levels/group_operations.hpp"

#include "base/format.hpp"

namespace espalier::machine {

void GroupOperations::check_range(std::size_t offset, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    throw GroupArgument(
        formatted("{} bytes at offset {}: the group's segment has {} bytes", bytes, offset, bytes_));
}

void GroupOperations::check_word(std::size_t offset) const {
  if (offset % sizeof(std::uint64_t) != 0)
    throw GroupArgument(formatted("a word at offset {}: need a multiple of 8", offset));
  check_range(offset, sizeof(std::uint64_t));
}

}  // namespace espalier::machine
