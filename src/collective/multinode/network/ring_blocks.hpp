// How an allgather's data are cut for the way around a ring of nodes, and who of a node sends which block
// (NOTIFY II-A, 4 to 8).
//
// Every rank knows how many bytes each node gives, so every rank computes the same; the paper's three parts
// of the load balance, which exchange these numbers through shared memory, are three functions here: how many
// blocks a node has (count), what the first one's number is (first_id), and which of them each of its ranks
// sends (share).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace espalier::collective::multinode {

/// Some bytes of the whole.
struct Stretch {
  std::size_t offset, bytes;
};

/// NOTIFY cuts the block of each rank by itself, for the blocks of two ranks need not be neighbours in the
/// result. Here the whole lies in node order (node_order.hpp), so a node's data are cut as one: the last
/// block alone is shorter than the others, and the shares are even whatever the ranks have.
class RingBlocks {
 public:
  /// GASPI's notifications; a block's number must be one of a window.
  static constexpr std::size_t most_ids = 65536;
  /// Of one rank for one node: enough to keep a ring busy, and so few that all may be under way at once.
  static constexpr std::size_t most_of_a_share = 64;

  struct Share {
    std::size_t first, count;
  };

  /// `edges`: where the data of each node begin, and where the last's end; up to most_ids / 2 nodes. Blocks
  /// of `wanted` bytes, or longer where there would be too many. `carriers` ranks of each node send and
  /// receive.
  RingBlocks(std::span<const std::size_t> edges, std::size_t wanted, int carriers)
      : edges_(edges.begin(), edges.end()), carriers_(static_cast<std::size_t>(carriers)) {
    const std::size_t nodes = edges.size() - 1;
    std::size_t largest = 0;
    for (std::size_t node = 0; node < nodes; ++node)
      largest = std::max(largest, edges[node + 1] - edges[node]);
    const std::size_t total = edges.back() - edges.front();
    block_ = std::max({wanted, std::size_t{1}, quotient(total, most_ids - nodes),
                       quotient(largest, most_of_a_share * carriers_)});
    first_ids_.push_back(0);
    for (std::size_t node = 0; node < nodes; ++node)
      first_ids_.push_back(first_ids_.back() + quotient(edges[node + 1] - edges[node], block_));
  }

  int nodes() const { return static_cast<int>(edges_.size()) - 1; }
  std::size_t block_bytes() const { return block_; }
  /// Of all nodes together.
  std::size_t count() const { return first_ids_.back(); }
  /// Part 1, equation 3, for the node as a whole.
  std::size_t count(int node) const { return first_id(node + 1) - first_id(node); }
  /// Part 2, listing 1: blocks are numbered through, node by node.
  std::size_t first_id(int node) const { return first_ids_[static_cast<std::size_t>(node)]; }
  /// Part 3, listing 3 and equation 4: which blocks of a node's a rank sends, counted from the node's first.
  Share share(int node, int carrier) const {
    const std::size_t all = count(node), k = static_cast<std::size_t>(carrier);
    Share share = {0, (all + carriers_ - k - 1) / carriers_};
    for (std::size_t i = 0; i < k; ++i) share.first += (all + carriers_ - i - 1) / carriers_;
    return share;
  }
  /// Where block `index` of a node's lies in the whole.
  Stretch block(int node, std::size_t index) const {
    const std::size_t begin = edges_[static_cast<std::size_t>(node)] + index * block_;
    return {begin, std::min(block_, edges_[static_cast<std::size_t>(node) + 1] - begin)};
  }

 private:
  static std::size_t quotient(std::size_t bytes, std::size_t divisor) {
    return bytes / divisor + (bytes % divisor != 0 ? 1 : 0);
  }

  std::vector<std::size_t> edges_, first_ids_;
  std::size_t carriers_;
  std::size_t block_ = 1;
};

}  // namespace espalier::collective::multinode
