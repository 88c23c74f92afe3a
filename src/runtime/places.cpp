#include "runtime/places.hpp"

#include "tree/compose.hpp"
#include "tree/contiguous.hpp"

namespace espalier::runtime {

Places::Places(int rank, int size, topology::Group groups, const plan::Selector& selector)
    : rank_(rank),
      size_(size),
      groups_(std::move(groups)),
      selector_(selector),
      pairs_(static_cast<std::size_t>(selector.count() * size)),
      contiguous_(static_cast<std::size_t>(size)) {}

std::unique_ptr<Places::Pair> Places::build(const plan::Plan& plan, int root) const {
  return std::make_unique<Pair>(
      Pair{collective::place_of(tree::compose(groups_, plan.gather_tree, root), rank_),
           collective::place_of(tree::compose(groups_, plan.release_tree, root), rank_)});
}

const collective::ContiguousPlace& Places::contiguous(int root) {
  constexpr int fan_out = 4;  // a rank keeps that many whole vectors at a time
  auto& known = contiguous_[static_cast<std::size_t>(root)];
  if (!known) {
    const tree::ContiguousTree all = tree::contiguous(size_, root, fan_out);
    const std::vector<int>& children = all.tree.children_of(rank_);
    const auto middle = children.begin() + all.left[static_cast<std::size_t>(rank_)];
    known = std::make_unique<collective::ContiguousPlace>(collective::ContiguousPlace{
        root, all.tree.parent_of(rank_), {children.begin(), middle}, {middle, children.end()}});
  }
  return *known;
}

}  // namespace espalier::runtime
