// The blocks of all ranks one after the other, node by node: as they travel between nodes, and as they lie
// where a node puts the whole together.
#pragma once

#include <algorithm>
#include <vector>

#include "collective/core/blocks.hpp"
#include "collective/multinode/stage/placement.hpp"

namespace espalier::collective::multinode {

/// All in bytes. Depends on the lengths of the blocks only, which all ranks know; where they go in a rank's
/// own buffer is its own business.
struct NodeOrder {
  std::vector<std::size_t> begin;  ///< of each rank's block
  std::vector<std::size_t> edges;  ///< where the blocks of each node begin, and where the last's end

  std::size_t total() const { return edges.back(); }
  std::size_t begin_of(int rank) const { return begin[static_cast<std::size_t>(rank)]; }
};

template <class B>
NodeOrder in_node_order(const Placement& placement, const B& blocks) {
  NodeOrder order;
  order.begin.resize(static_cast<std::size_t>(placement.ranks()));
  order.edges.reserve(placement.ranks_of.size() + 1);
  std::size_t end = 0;
  for (const std::vector<int>& ranks : placement.ranks_of) {
    order.edges.push_back(end);
    for (const int rank : ranks) {
      order.begin[static_cast<std::size_t>(rank)] = end;
      end += blocks.bytes_of(rank);
    }
  }
  order.edges.push_back(end);
  return order;
}

/// What lies between two places of each block, counted from the block's start: a call in several passes.
template <class B>
struct PartsOfBlocks {
  const B& blocks;
  std::size_t from, to;

  std::size_t bytes_of(int rank) const {
    const std::size_t bytes = blocks.bytes_of(rank);
    return std::min(bytes, to) - std::min(bytes, from);
  }
  std::size_t offset_of(int rank) const {
    return blocks.offset_of(rank) + std::min(blocks.bytes_of(rank), from);
  }
};

/// How far a pass that begins at `from` may go so that it moves `most` bytes at most, if it can: it makes
/// progress in any case.
template <class B>
std::size_t end_of_pass(const B& blocks, int ranks, std::size_t from, std::size_t most) {
  const auto moves = [&](std::size_t to) {
    std::size_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += PartsOfBlocks<B>{blocks, from, to}.bytes_of(rank);
    return sum;
  };
  std::size_t fits = from + 1, too_far = largest_of(blocks, ranks) + 1;
  if (moves(too_far - 1) <= most) return too_far - 1;
  while (fits + 1 < too_far) {
    const std::size_t middle = fits + (too_far - fits) / 2;
    (moves(middle) <= most ? fits : too_far) = middle;
  }
  return fits;
}

/// Some ranks' blocks, by their numbers among them: what a node stage of those ranks is told.
class BlocksOfSome {
 public:
  void add(std::size_t bytes, std::size_t offset) {
    bytes_.push_back(bytes);
    offsets_.push_back(offset);
  }
  Blocks view() const { return {bytes_, offsets_}; }

 private:
  std::vector<std::size_t> bytes_, offsets_;
};

}  // namespace espalier::collective::multinode
