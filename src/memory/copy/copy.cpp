// A copy in pieces.
#include "memory/copy/copy.hpp"

namespace espalier::memory {

void copy_in_pieces(void* target, const void* source, std::size_t bytes, std::size_t piece) {
  auto* to = static_cast<std::byte*>(target);
  auto* from = static_cast<const std::byte*>(source);
  for (; bytes > piece; to += piece, from += piece, bytes -= piece) std::memcpy(to, from, piece);
  std::memcpy(to, from, bytes);
}

}  // namespace espalier::memory
