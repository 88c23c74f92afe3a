// Allgather(v) around a ring of windows (NOTIFY II-A, algorithm 1): no rank waits for a certain receiver. A
// block is written into the window of the node above and notified there; all its ranks see that, and the rank
// that sees it first passes it on.
#pragma once

#include <vector>

#include "collective/multinode/allgather.hpp"
#include "collective/multinode/network/window_ring.hpp"
#include "collective/multinode/stage/node_ranks.hpp"

namespace espalier::collective::multinode {

/// One rank's part; `node` is NodeRanks or NodeOfOne. Of the ranks of each node the first `carriers` start
/// the node's own blocks, in even shares (RingBlocks); all of them pass on what comes. The window has more
/// than WindowHalf::least_ids() ids, and room() for the whole in each half.
template <network::Window W, class Node, class B>
class AllgatherWindow {
 public:
  AllgatherWindow(W& w, WindowUse& use, const Allgather<B>& call, Node node, int carriers, std::size_t block)
      : window_(w),
        call_(call),
        node_(node),
        ring_(w, use),
        blocks_(call.order.edges, std::max(block, least_block()), 1),
        shares_(call.order.edges, blocks_.block_bytes(), std::min(carriers, node_.size())),
        starts_(node_.rank() < carriers) {}

  /// Where the whole lies, in node order: until this rank's next call.
  std::byte* whole() const { return ring_.data(); }

  /// The step that each rank of the node has finished once it reads nothing more in the segment.
  Step run() {
    show_own();
    const Step reading = node_.begin_reading();
    start_own();
    for (int distance = 1; distance < ring_.nodes(); ++distance) expect(ring_.below(distance));
    unpack(ring_.node());
    watch();
    window_.flush();
    node_.end_reading(reading);
    return reading;
  }

 private:
  /// What has not come from a node yet.
  struct Coming {
    int node;
    std::vector<std::size_t> missing;
  };

  /// So that the numbers suffice: each node may have one block more than its bytes ask for, and one that is
  /// empty.
  std::size_t least_block() const {
    const std::size_t numbers = ring_.most_blocks() - 2 * static_cast<std::size_t>(ring_.nodes());
    return (call_.order.total() + numbers - 1) / numbers;
  }

  /// Blocks are numbered node by node; each node has a number more than it has blocks, for the empty one.
  std::size_t number(int node, std::size_t index) const {
    return blocks_.first_id(node) + static_cast<std::size_t>(node) + index;
  }
  Stretch stretch(int node, std::size_t index) const {
    return blocks_.count(node) == 0 ? Stretch{0, 0} : blocks_.block(node, index);
  }

  void send(int node, std::size_t index) {
    const Stretch s = stretch(node, index);
    ring_.send(number(node, index), s.offset, whole() + s.offset, s.bytes);
  }

  /// Until all ranks' blocks are in the segment.
  void show_own() {
    if (const std::size_t bytes = call_.blocks.bytes_of(call_.rank); bytes > 0)
      node_.copy(whole() + call_.order.begin_of(call_.rank), call_.own, bytes);
    call_.place_own(copy());
    node_.meet();
  }

  /// Lines 10 to 12 of algorithm 1.
  void start_own() {
    if (ring_.nodes() == 1 || !starts_) return;
    const int node = ring_.node();
    const RingBlocks::Share own = shares_.share(node, node_.rank());
    for (std::size_t i = 0; i < own.count; ++i) send(node, own.first + i);
    if (blocks_.count(node) == 0 && node_.rank() == 0) send(node, 0);
  }

  void expect(int node) { coming_.push_back({node, all_of(std::max<std::size_t>(blocks_.count(node), 1))}); }

  /// Lines 13 to 19: until everything has come and been copied out. The window's wait for ids that are not 0
  /// is of no use, for these still have the values of two calls ago.
  void watch() {
    std::size_t open = coming_.size();
    window_.drive_until([&] {
      for (Coming& each : coming_)
        if (!each.missing.empty() && look(each)) --open;
      return open == 0;
    });
  }

  /// Passes on what has come; true if that was the last of this node's.
  bool look(Coming& from) {
    std::erase_if(from.missing, [&](std::size_t index) { return has_come(from.node, index); });
    if (!from.missing.empty()) return false;
    unpack(from.node);
    return true;
  }

  /// Lines 14 to 18.
  bool has_come(int node, std::size_t index) {
    const std::size_t block = number(node, index);
    if (!ring_.has_come(block)) return false;
    if (node != ring_.above() && ring_.claim(block)) send(node, index);
    return true;
  }

  auto copy() {
    return [this](void* target, const void* source, std::size_t bytes) { node_.copy(target, source, bytes); };
  }
  void unpack(int node) { call_.unpack(whole(), node, copy()); }

  W& window_;
  const Allgather<B>& call_;
  Node node_;
  WindowRing<W> ring_;
  RingBlocks blocks_;  // the same on all nodes, however many ranks they have
  RingBlocks shares_;  // the same blocks, among the ranks of this node
  bool starts_;
  std::vector<Coming> coming_;
};

}  // namespace espalier::collective::multinode
