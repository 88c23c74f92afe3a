// How the calls of a communicator that go through a window share its segments and notifications: each call
// has one half of them, in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace espalier::collective::multinode {

/// What the ranks of a communicator keep from call to call about their window. Calls take its halves in
/// turns: a node writes into one of them again only after it has heard of this node in the call between, in
/// which all ranks here had left the call before. For that every call lets each node hear of all others.
struct WindowUse {
  std::uint32_t calls = 0;  ///< the notifications' value; it wraps around, and 0 is left out

  /// The value of the next call, by which it has its half.
  std::uint32_t next() { return calls = calls + 1 == 0 ? 2 : calls + 1; }
};

/// Where things lie in a node's segment: two halves, each with room for the whole and a mark for each block,
/// which says who passes it on. The ids are halved likewise.
class WindowHalf {
 public:
  using Mark = std::uint32_t;

  WindowHalf(std::size_t segment_bytes, int ids, std::uint32_t call)
      : blocks_(static_cast<std::size_t>(ids) / 2),
        bytes_(segment_bytes / 2 / alignment * alignment),
        index_(call % 2) {}

  /// How many blocks a call may have, and how many bytes.
  std::size_t most_blocks() const { return blocks_; }
  std::size_t room() const { return bytes_ > marks() ? bytes_ - marks() : 0; }
  std::size_t data() const { return index_ * bytes_ + marks(); }
  std::size_t mark(std::size_t block) const { return index_ * bytes_ + block * sizeof(Mark); }
  int id(std::size_t block) const { return static_cast<int>(index_ * blocks_ + block); }

  /// A segment in which each half has room for so much.
  static std::size_t segment_bytes(std::size_t room, int ids) {
    const std::size_t half = marks(static_cast<std::size_t>(ids) / 2) + room + alignment - 1;
    return 2 * (half / alignment * alignment);
  }
  /// So many ids do for any call between so many nodes.
  static int least_ids(int nodes) { return 8 * nodes; }
  /// To be called by one rank of each node before the first call: fresh marks.
  static void prepare(std::byte* segment, std::size_t segment_bytes, int ids) {
    for (const std::uint32_t call : {0U, 1U}) {
      const WindowHalf half(segment_bytes, ids, call);
      std::memset(segment + half.mark(0), 0, half.marks());
    }
  }

 private:
  static constexpr std::size_t alignment = 64;
  static std::size_t marks(std::size_t blocks) {
    return (blocks * sizeof(Mark) + alignment - 1) / alignment * alignment;
  }
  std::size_t marks() const { return marks(blocks_); }
  std::size_t blocks_, bytes_, index_;
};

}  // namespace espalier::collective::multinode
