#include "runtime/communicator/tree_positions.hpp"

#include "tree/compose.hpp"

namespace espalier::runtime {

Places::Places(int rank, int size, topology::Group groups, int plans)
    : rank_(rank),
      size_(size),
      groups_(std::move(groups)),
      pairs_(static_cast<std::size_t>(plans * size)),
      contiguous_(static_cast<std::size_t>(size)) {}

std::unique_ptr<Places::Pair> Places::build(const plan::Plan& plan, int root) const {
  return std::make_unique<Pair>(
      Pair{collective::place_of(tree::compose(groups_, plan.gather_tree, root), rank_),
           collective::place_of(tree::compose(groups_, plan.release_tree, root), rank_)});
}

const collective::ContiguousPlace& Places::contiguous(int root) {
  auto& known = contiguous_[static_cast<std::size_t>(root)];
  if (!known)
    known = std::make_unique<collective::ContiguousPlace>(collective::contiguous_place(size_, rank_, root));
  return *known;
}

}  // namespace espalier::runtime
