// What a collective may do with a window shared by the ranks of a node.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace espalier::network {

/// One segment of memory per node, shared by all its ranks, and an array of notifications per node which
/// every rank of the node sees, whichever of them a notification was aimed at (NOTIFY, I and II-A).
///
/// A notification is a number (id) with a value that is not zero; zero is "nothing has come". What a
/// put_notify carried is visible to any rank of the target node that has seen its notification. Two puts of
/// one rank are not ordered among themselves, nor are two notifications, unless a rank has seen one before
/// the other was started. A notification overwrites the value that the same id has there.
///
/// The transport aims a put at one rank of the target node, so that the ranks of a node share its load: the
/// one whose local rank is the sender's, modulo the ranks there. Used by one thread of a rank at a time.
template <class W>
concept Window = requires(W w, const W c, int node, std::size_t offset, const void* source, void* target,
                          std::size_t bytes, int id, int count, std::uint32_t value) {
  { c.nodes() } -> std::same_as<int>;
  { c.node() } -> std::same_as<int>;           // this rank's
  { c.bytes() } -> std::same_as<std::size_t>;  // of each node's segment
  { c.ids() } -> std::same_as<int>;  // notifications are numbered from 0; 65,536 and more are allowed

  /// This node's segment, mapped.
  { w.local() } -> std::same_as<std::byte*>;

  /// Starts to write `bytes` from `source` at `offset` of the segment of `node` (which may be this one), and
  /// then sets notification `id` there to `value`, which is not zero. The source stays unchanged until
  /// flush(). No bytes: a notification alone, which still comes after its sender's own earlier loads and
  /// stores.
  w.put_notify(node, offset, source, bytes, id, value);
  /// Until the sources of all puts of this rank may be changed again (local completion; says nothing of the
  /// target).
  w.flush();

  /// The value of a notification of this node, 0 when it has not come (acquire); drives progress.
  { w.test(id) } -> std::same_as<std::uint32_t>;
  /// The same without driving.
  { w.peek(id) } -> std::same_as<std::uint32_t>;
  /// Sets a notification to 0 and returns what it was, atomically: of several ranks that reset it, one gets
  /// the value (acquire and release).
  { w.reset(id) } -> std::same_as<std::uint32_t>;
  /// Until one of the notifications first to first + count - 1 is not 0: its id (acquire); drives progress.
  { w.wait_some(id, count) } -> std::same_as<int>;
  /// Sets the mark in the 4 bytes at this offset of this node's segment, which only claims write; true for
  /// the first of the node's ranks that sets it to this value. Orders nothing.
  { w.claim(offset, value) } -> std::same_as<bool>;
  /// Until done() is true: the wait of the rank that looks at several notifications, or at values that
  /// replace others; drives progress, and makes room for others as every wait for the network does.
  w.drive_until([] { return true; });
};

}  // namespace espalier::network
