// A copy in pieces, for which memcpy does not use `rep movsb`.
#include "memory/copy/copy.hpp"

namespace espalier::memory {

void copy_in_pieces(void* target, const void* source, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(target);
  auto* from = static_cast<const std::byte*>(source);
  for (; bytes > copy_piece; to += copy_piece, from += copy_piece, bytes -= copy_piece)
    std::memcpy(to, from, copy_piece);
  std::memcpy(to, from, bytes);
}

}  // namespace espalier::memory
