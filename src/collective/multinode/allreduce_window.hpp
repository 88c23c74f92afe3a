// Allreduce of long vectors around a ring of windows, pipelined in blocks (the rings that NOTIFY III names
// for them; the steps are those of ring.hpp). No rank waits for a certain receiver: a block is written into
// the window of the node above and notified there; all its ranks see that, and the rank that sees it first
// folds it with the node's own and passes it on.
#pragma once

#include <vector>

#include "collective/multinode/network/window_ring.hpp"
#include "collective/multinode/stage/node_ranks.hpp"
#include "collective/node/reductions/reduce.hpp"

namespace espalier::collective::multinode {

/// A vector's two places in half of a window: where the second begins, counted from the first.
constexpr std::size_t landing_of(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
/// What the half has to hold for so long a vector, and how long a vector of whole elements may be at most.
constexpr std::size_t vector_room(std::size_t bytes) { return landing_of(bytes) + bytes; }
constexpr std::size_t longest_vector(std::size_t room, std::size_t extent) {
  return (room / 2 - 64) / extent * extent;
}

/// One rank's part; two nodes or more. `node` is NodeRanks or NodeOfOne. `fold_node(offset, bytes, target)`
/// folds that stretch of the node's vectors into `target`, in the segment; all ranks of the node call it
/// alike, and may write a part of it each. Of the ranks of each node the first `carriers` start the node's
/// own blocks, of `block` bytes or what the ids allow; all of them fold and pass on what comes.
///
/// A slice of the vector for each node starts there, is folded all around the ring and complete at the node
/// below, from where it goes around once more. So each slice is folded in one order and in one place last:
/// all ranks get the same bits. A node's half of the segment holds its own vector, from which partial results
/// leave, and behind it room for what lands: a slice's partial result first, the whole later. What leaves and
/// what lands never share a place, so nothing is overwritten that is still under way.
///
/// Every rank has, in the end, results to which all nodes have added after all their ranks came: that is how
/// each node hears of all others (WindowUse).
template <network::Window W, class Node, class FoldNode>
class AllreduceWindow {
 public:
  AllreduceWindow(W& w, WindowUse& use, const Reduction& reduction, Node node, FoldNode fold_node,
                  int carriers, std::size_t block)
      : window_(w),
        reduction_(reduction),
        node_(node),
        fold_node_(fold_node),
        ring_(w, use),
        blocks_(edges(), std::max(block / extent(), least_block()), 1),
        shares_(edges(), blocks_.block_bytes(), std::min(carriers, node_.size())),
        starts_(node_.rank() < carriers) {}

  /// The step that each rank of the node has finished once it reads nothing more in the segment.
  Step run() {
    if (node_.is_oversubscribed())
      gather_at_once();
    else
      gather_by_slices();
    const Step reading = node_.begin_reading();
    window_.drive_until([this] { return look(); });
    window_.flush();
    node_.end_reading(reading);
    return reading;
  }

 private:
  /// What is on its way around with a slice.
  enum class Kind : std::size_t { partial, result };
  /// What has not come of a slice yet.
  struct Coming {
    int slice;
    Kind kind;
    std::vector<std::size_t> missing;
  };

  int nodes() const { return ring_.nodes(); }
  std::size_t extent() const { return reduction_.operation.extent; }

  /// Where the slices begin, in elements; blocks are cut in elements too.
  std::vector<std::size_t> edges() const {
    std::vector<std::size_t> result;
    const Slices slices(reduction_.bytes, extent(), nodes());
    for (int slice = 0; slice <= nodes(); ++slice) result.push_back(slices.begin(slice) / extent());
    return result;
  }
  /// So that the numbers suffice: two for each block, and each slice may have a block more than its length
  /// asks for.
  std::size_t least_block() const {
    const std::size_t numbers = ring_.most_blocks() / 2 - static_cast<std::size_t>(nodes());
    return (reduction_.bytes / extent() + numbers - 1) / numbers;
  }
  std::size_t number(int slice, std::size_t index, Kind kind) const {
    return 2 * (blocks_.first_id(slice) + index) + static_cast<std::size_t>(kind);
  }
  Stretch stretch(int slice, std::size_t index) const {
    const Stretch elements = blocks_.block(slice, index);
    return {elements.offset * extent(), elements.bytes * extent()};
  }
  std::byte* own(std::size_t offset) const { return ring_.data() + offset; }
  std::byte* landed(std::size_t offset) const { return own(landing_of(reduction_.bytes) + offset); }

  /// To the node above, where it lands in its place.
  void send(int slice, std::size_t index, Kind kind, const std::byte* source) {
    const Stretch s = stretch(slice, index);
    ring_.send(number(slice, index, kind), landing_of(reduction_.bytes) + s.offset, source, s.bytes);
  }

  void gather_at_once() {
    fold_node_(std::size_t{0}, reduction_.bytes, own(0));
    node_.meet();
    start_own();
    for (int distance = 0; distance < nodes(); ++distance) expect(ring_.below(distance));
  }

  /// In the order in which the slices are needed. What comes is looked at in between.
  void gather_by_slices() {
    const Slices slices(reduction_.bytes, extent(), nodes());
    for (int distance = 0; distance < nodes(); ++distance) {
      const int slice = ring_.below(distance);
      if (slices.bytes(slice) > 0)
        fold_node_(slices.begin(slice), slices.bytes(slice), own(slices.begin(slice)));
      node_.meet();
      if (distance == 0) start_own();
      expect(slice);
      window_.drive_until([this] { return look(), true; });
    }
  }

  void start_own() {
    if (!starts_) return;
    const int slice = ring_.node();
    const RingBlocks::Share mine = shares_.share(slice, node_.rank());
    for (std::size_t i = mine.first; i < mine.first + mine.count; ++i)
      send(slice, i, Kind::partial, own(stretch(slice, i).offset));
  }

  /// Of a slice that the node has folded: nothing is done with what comes of the others before.
  void expect(int slice) {
    if (blocks_.count(slice) == 0) return;
    if (slice != ring_.node()) coming_.push_back({slice, Kind::partial, all_of(blocks_.count(slice))});
    coming_.push_back({slice, Kind::result, all_of(blocks_.count(slice))});
  }

  /// Folds and passes on what has come, and copies out the slices that are complete; true if nothing is to
  /// come any more.
  bool look() {
    for (Coming& each : coming_) {
      std::erase_if(each.missing, [&](std::size_t index) { return has_come(each, index); });
      if (each.missing.empty() && each.kind == Kind::result) copy_out(each.slice);
    }
    std::erase_if(coming_, [](const Coming& each) { return each.missing.empty(); });
    return coming_.empty();
  }

  bool has_come(const Coming& from, std::size_t index) {
    const std::size_t block = number(from.slice, index, from.kind);
    if (!ring_.has_come(block)) return false;
    if (!ring_.claim(block)) return true;  // another rank of the node sees to it
    if (from.kind == Kind::partial)
      pass_on_folded(from.slice, index);
    else if (passes_on_result(from.slice))
      send(from.slice, index, Kind::result, landed(stretch(from.slice, index).offset));
    return true;
  }

  /// The node below the one where a slice starts; it hears of the result from itself.
  int completing(int slice) const { return around(slice - 1, nodes()); }
  bool passes_on_result(int slice) const {
    return completing(slice) != ring_.node() && completing(slice) != ring_.above();
  }

  /// What the nodes below have come to on the left, the node's own on the right.
  void pass_on_folded(int slice, std::size_t index) {
    const Stretch s = stretch(slice, index);
    if (completing(slice) != ring_.node()) {
      node_.fold(reduction_.operation, own(s.offset), landed(s.offset), own(s.offset), s.bytes);
      return send(slice, index, Kind::partial, own(s.offset));
    }
    node_.fold(reduction_.operation, landed(s.offset), landed(s.offset), own(s.offset), s.bytes);
    send(slice, index, Kind::result, landed(s.offset));
    ring_.tell_own_node(number(slice, index, Kind::result), landed(s.offset));
  }

  void copy_out(int slice) {
    const Slices slices(reduction_.bytes, extent(), nodes());
    node_.copy(at(reduction_.receive, slices.begin(slice)), landed(slices.begin(slice)), slices.bytes(slice));
  }

  W& window_;
  const Reduction& reduction_;
  Node node_;
  FoldNode fold_node_;
  WindowRing<W> ring_;
  RingBlocks blocks_;  // the same on all nodes, however many ranks they have
  RingBlocks shares_;  // the same blocks, among the ranks of this node
  bool starts_;
  std::vector<Coming> coming_;
};

}  // namespace espalier::collective::multinode
