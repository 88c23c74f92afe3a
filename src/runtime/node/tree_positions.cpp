#include "runtime/node/tree_positions.hpp"

#include "tree/compose.hpp"

namespace espalier::runtime {

TreePositions::TreePositions(int rank, int size, topology::Group groups, int plans)
    : rank_(rank),
      size_(size),
      groups_(std::move(groups)),
      pairs_(static_cast<std::size_t>(plans * size)),
      contiguous_(static_cast<std::size_t>(size)) {}

std::unique_ptr<TreePositions::Pair> TreePositions::build(const plan::Plan& plan, int root) const {
  return std::make_unique<Pair>(
      Pair{collective::position_of(tree::compose(groups_, plan.gather_tree, root), rank_),
           collective::position_of(tree::compose(groups_, plan.release_tree, root), rank_)});
}

const collective::ContiguousPosition& TreePositions::contiguous(int root) {
  auto& known = contiguous_[static_cast<std::size_t>(root)];
  if (!known)
    known =
        std::make_unique<collective::ContiguousPosition>(collective::contiguous_position(size_, rank_, root));
  return *known;
}

}  // namespace espalier::runtime
