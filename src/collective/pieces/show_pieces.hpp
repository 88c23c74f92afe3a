// Blocks in pieces where ranks show and read them, as core/rounds.hpp and core/zero_copy_blocks.hpp have it for
// blocks that lie in one piece.
#pragma once

#include <array>

#include "collective/core/rounds.hpp"
#include "collective/core/zero_copy_blocks.hpp"
#include "collective/pieces/piece_blocks.hpp"

namespace espalier::collective {

/// Runs of some length are written past the caches where that is right, as a dense block is.
template <Machine M>
[[gnu::noinline]] void show_part(M& m, std::byte* target, const PieceBlock& block, const Part& part,
                                 std::size_t comes_back, const void* /*read_next*/ = nullptr) {
  constexpr std::size_t long_run = 4096;
  std::byte* to = target;
  walk(block, part, [&](const std::byte* from, std::size_t bytes, std::size_t count, std::ptrdiff_t stride) {
    const auto shown = static_cast<std::size_t>(to - target);
    if (count == 1 && bytes >= long_run)
      show_pairwise(m, to, from, bytes, comes_back > shown ? comes_back - shown : 0);
    else if (count == 1)
      m.copy(to, from, bytes);
    else
      m.copy_runs(to, static_cast<std::ptrdiff_t>(bytes), from, stride, bytes, count);
    to += bytes * count;
  });
}

/// A block that its owner has exposed, into pieces: read where it lies if that can be mapped, else through a
/// buffer. (The reader's pieces say nothing of how the owner's data lie: those are dense.)
template <Machine M>
[[gnu::noinline]] void pull_block(M& m, int peer, const PieceBlock& target, std::uint64_t address,
                                  std::size_t bytes) {
  if (const std::byte* dense = dense_address(target))
    return pull_block(m, peer, const_cast<std::byte*>(dense), address, bytes);
  const auto* const source = reinterpret_cast<const std::byte*>(address);
  if (const void* view = m.view(peer, source, bytes))
    return take_part(m, target, Part{0, bytes}, static_cast<const std::byte*>(view));
  std::array<std::byte, 16384> buffer;
  for (std::size_t offset = 0; offset < bytes; offset += buffer.size()) {
    const Part part{offset, std::min(buffer.size(), bytes - offset)};
    m.pull(peer, buffer.data(), source + offset, part.bytes);
    take_part(m, target, part, buffer.data());
  }
}

}  // namespace espalier::collective
