// What carries a window's puts to other nodes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::network {

/// One rank's way to the segments of the other nodes. Used by one thread at a time. `node` is never this
/// rank's own, offsets and ids are checked before. All calls throw Error when the network fails.
class Carrier {
 public:
  virtual ~Carrier() = default;

  /// Starts to write; then sets notification `id` to `value`, unless that is 0. The source stays unchanged
  /// until settled().
  virtual void put(int node, std::size_t offset, const void* source, std::size_t bytes, int id,
                   std::uint32_t value) = 0;
  /// Starts to read; the target holds the data when settled().
  virtual void get(int node, std::size_t offset, void* target, std::size_t bytes) = 0;

  /// Starts to write the 8 bytes at `offset` in one piece. Where messages carry puts, it comes after this
  /// rank's earlier puts to that node of no more than longest_inline bytes.
  virtual void store(int node, std::size_t offset, std::uint64_t value) = 0;
  /// Starts an atomic operation on the 8 bytes at `offset`; what was there is in `old` when settled().
  virtual void fetch_add(int node, std::size_t offset, std::uint64_t value, std::uint64_t* old) = 0;
  virtual void compare_swap(int node, std::size_t offset, std::uint64_t expected, std::uint64_t desired,
                            std::uint64_t* old) = 0;

  /// Whether all sources and targets of this rank belong to it again; drives. (A transport that can only
  /// block for that does so here.)
  virtual bool settled() = 0;
  /// Lets this rank's own operations, and those that are aimed at it, go on; true if any did. Never blocks.
  virtual bool drive() = 0;

  /// Whether all that this rank has started has left it, requests included; drives.
  virtual bool has_left() = 0;
  /// The last thing: says that this rank starts nothing more.
  virtual void say_goodbye() = 0;
  /// Whether nothing of this rank is under way, and nothing will come to it any more; drives.
  virtual bool at_rest() = 0;
};

}  // namespace espalier::network
