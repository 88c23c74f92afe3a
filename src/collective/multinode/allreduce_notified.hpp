// Allreduce of short vectors by dissemination with partial reductions through windows (NOTIFY III): several
// ranks of a node disseminate a slice of the vector each, and all its ranks see what has come.
#pragma once

#include <vector>

#include "collective/multinode/network/notified_peers.hpp"
#include "collective/multinode/network/ordered_parts.hpp"
#include "collective/multinode/stage/node_ranks.hpp"
#include "collective/node/reductions/reduce.hpp"

namespace espalier::collective::multinode {

/// How a vector is cut for a dissemination between so many nodes, and where its messages land; the same on
/// all nodes.
class NotifiedSlices {
 public:
  /// `slices`: as many as ranks share the work on each node.
  NotifiedSlices(std::size_t bytes, std::size_t extent, int slices, int nodes)
      : cut_(bytes, extent, slices), parts_(nodes), longest_(longest(bytes, extent, slices)) {}

  const Slices& cut() const { return cut_; }
  int count() const { return cut_.count(); }
  Mailbox mailbox(int slice) const {
    const std::size_t before = static_cast<std::size_t>(slice) * messages();
    const std::size_t room = message_room();
    return {whole() + before * room, room, before};
  }
  /// The number by which a node's ranks hear that a slice is complete.
  std::size_t complete(int slice) const {
    return static_cast<std::size_t>(count()) * messages() + static_cast<std::size_t>(slice);
  }
  /// What a half of the window has to hold: the node's vector, and what lands.
  std::size_t room() const {
    return whole() + static_cast<std::size_t>(count()) * messages() * message_room();
  }
  /// How many slices so many numbers suffice for.
  static int most_slices(std::size_t numbers, int nodes) {
    return static_cast<int>(numbers / (static_cast<std::size_t>(PartialReductions(nodes).messages()) + 1));
  }

 private:
  static constexpr std::size_t line = 64;
  static std::size_t in_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }
  static std::size_t longest(std::size_t bytes, std::size_t extent, int slices) {
    const std::size_t elements = bytes / extent, count = static_cast<std::size_t>(slices);
    return (elements + count - 1) / count * extent;
  }
  std::size_t messages() const { return static_cast<std::size_t>(parts_.messages()); }
  std::size_t whole() const { return in_lines(cut_.begin(cut_.count())); }
  /// Where the order of folds shows, a message has up to 2 k vectors for 2^k nodes (ordered_parts.hpp).
  std::size_t message_room() const {
    return in_lines(longest_ * static_cast<std::size_t>(std::max(1, 2 * parts_.rounds())));
  }

  Slices cut_;
  PartialReductions parts_;
  std::size_t longest_;
};

/// One rank's part; two nodes or more. `node` and `fold_node` are those of AllreduceWindow. `slices`: not more
/// than NotifiedSlices::most_slices(); slice s is disseminated by local rank s modulo the node's ranks.
/// `scratch(bytes)`: memory until the call ends.
///
/// Every rank has, in the end, results to which all nodes have added after all their ranks came: that is how
/// each node hears of all others (WindowUse).
template <network::Window W, class Node, class FoldNode, class Scratch>
class AllreduceNotified {
 public:
  AllreduceNotified(W& w, WindowUse& use, const Reduction& reduction, Node node, FoldNode fold_node,
                    Scratch scratch, int slices)
      : reduction_(reduction),
        node_(node),
        fold_node_(fold_node),
        scratch_(scratch),
        windows_(w, use),
        messages_(w, windows_, node),
        slices_(reduction.bytes, reduction.operation.extent, slices, windows_.nodes()) {}

  /// The step that each rank of the node has finished once it reads nothing more in the segment.
  Step run() {
    fold_node_(std::size_t{0}, reduction_.bytes, windows_.data());
    node_.meet();
    start_own();
    const Step reading = node_.begin_reading();
    messages_.drive_until([this] { return look(); });
    node_.end_reading(reading);
    return reading;
  }

 private:
  struct Own {
    int slice;
    const std::byte* data;
    Task task;
  };

  std::size_t bytes(int slice) const { return slices_.cut().bytes(slice); }
  std::byte* whole(int slice) const { return windows_.data() + slices_.cut().begin(slice); }

  /// Empty slices are empty on all nodes.
  void start_own() {
    for (int slice = 0; slice < slices_.count(); ++slice)
      if (bytes(slice) > 0) coming_.push_back(slice);
    const std::size_t vectors =
        1 + dissemination_scratch(windows_.node(), windows_.nodes(), reduction_.operation);
    std::size_t needed = 0;
    for (const int slice : coming_)
      if (is_mine(slice)) needed += vectors * bytes(slice);
    if (needed == 0) return;
    std::byte* free = scratch_(needed);
    for (const int slice : coming_)
      if (is_mine(slice)) own_.push_back(start(slice, std::exchange(free, free + vectors * bytes(slice))));
  }
  bool is_mine(int slice) const { return slice % node_.size() == node_.rank(); }
  /// It works on memory of this rank alone; only what is complete goes back to where the others look.
  Own start(int slice, std::byte* data) {
    node_.copy(data, whole(slice), bytes(slice));
    const NotifiedPeers<W, Node> peers(messages_, slices_.mailbox(slice));
    const Vector v = {data, bytes(slice), data + bytes(slice), reduction_.operation};
    return {slice, data, allreduce_dissemination(peers, v)};
  }

  /// Tells the node of this rank's slices that are complete, and copies out those that are; true after all.
  bool look() {
    std::erase_if(own_, [this](const Own& own) {
      if (!own.task.done()) return false;
      node_.copy(whole(own.slice), own.data, bytes(own.slice));
      windows_.tell_own_node(slices_.complete(own.slice), whole(own.slice));
      return true;
    });
    std::erase_if(coming_, [this](int slice) {
      if (!windows_.has_come(slices_.complete(slice))) return false;
      node_.copy(at(reduction_.receive, slices_.cut().begin(slice)), whole(slice), bytes(slice));
      return true;
    });
    return coming_.empty();
  }

  const Reduction& reduction_;
  Node node_;
  FoldNode fold_node_;
  Scratch scratch_;
  WindowRing<W> windows_;
  NotifiedMessages<W, Node> messages_;
  NotifiedSlices slices_;
  std::vector<int> coming_;  // slices that this rank has not copied out
  std::vector<Own> own_;
};

}  // namespace espalier::collective::multinode
