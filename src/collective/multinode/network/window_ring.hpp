// A ring of nodes whose windows a call goes through: each node writes blocks into its half of the window of
// the node above, and notifies it of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective/multinode/network/ring_blocks.hpp"
#include "collective/multinode/network/vector.hpp"
#include "collective/multinode/network/window_half.hpp"
#include "network/window/concept.hpp"

namespace espalier::collective::multinode {

/// The ring as one rank sees it in one call. Blocks are numbered by the caller.
template <network::Window W>
class WindowRing {
 public:
  WindowRing(W& window, WindowUse& use)
      : window_(window), value_(use.next()), half_(window.bytes(), window.ids(), value_) {}

  int nodes() const { return window_.nodes(); }
  int node() const { return window_.node(); }
  int above() const { return around(node() + 1, nodes()); }
  int below(int distance) const { return around(node() - distance, nodes()); }
  std::size_t most_blocks() const { return half_.most_blocks(); }
  /// Where the data of this node's half begin.
  std::byte* data() const { return window_.local() + half_.data(); }

  /// Writes a block to `offset` in the data of the node above.
  void send(std::size_t block, std::size_t offset, const std::byte* source, std::size_t bytes) {
    send_to(above(), block, offset, source, bytes);
  }
  /// Tells the ranks of this node of a block that is there.
  void tell_own_node(std::size_t block, const std::byte* source) { send_to(node(), block, 0, source, 0); }
  /// Writes a block to `offset` in the data of any node: for algorithms that are no ring.
  void send_to(int node, std::size_t block, std::size_t offset, const std::byte* source, std::size_t bytes) {
    window_.put_notify(node, half_.data() + offset, source, bytes, half_.id(block), value_);
  }

  bool has_come(std::size_t block) const { return window_.peek(half_.id(block)) == value_; }
  /// Whether this rank sees to a block that has come, and no other of its node. The notification has made the
  /// data visible.
  bool claim(std::size_t block) { return window_.claim(half_.mark(block), value_); }

 private:
  W& window_;
  std::uint32_t value_;
  WindowHalf half_;
};

/// The numbers from 0 on of so many blocks that have not come yet.
inline std::vector<std::size_t> all_of(std::size_t blocks) {
  std::vector<std::size_t> result(blocks);
  for (std::size_t i = 0; i < blocks; ++i) result[i] = i;
  return result;
}

}  // namespace espalier::collective::multinode
