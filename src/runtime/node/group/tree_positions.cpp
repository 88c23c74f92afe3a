#include "runtime/node/group/tree_positions.hpp"

#include <memory>
#include <utility>

#include "runtime/statistics/used_trees.hpp"
#include "tree/compose.hpp"

namespace espalier::runtime {
namespace {

/// Keeps what is made, unless another thread was first: then that thread's.
template <class T>
const T& keep_first(std::atomic<const T*>& place, std::unique_ptr<const T> made) {
  const T* first = nullptr;
  // release: pairs with the acquires of readers; acquire: as theirs, where another thread was first.
  if (place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *made.release();
  return *first;
}

}  // namespace

TreePositions::TreePositions(int rank, int size, topology::Group groups, int plans)
    : rank_(rank),
      size_(size),
      groups_(std::move(groups)),
      pairs_(static_cast<std::size_t>(plans * size)),
      contiguous_(static_cast<std::size_t>(size)) {}

TreePositions::~TreePositions() {
  for (const auto& pair : pairs_) delete pair.load(std::memory_order_relaxed);
  for (const auto& position : contiguous_) delete position.load(std::memory_order_relaxed);
}

const TreePositions::Pair& TreePositions::build(const plan::Plan& plan, int root) const {
  auto& place = pairs_[static_cast<std::size_t>(plan.index) * static_cast<std::size_t>(size_) +
                       static_cast<std::size_t>(root)];
  const tree::Tree gather = tree::compose(groups_, plan.gather_tree, root);
  const tree::Tree release = tree::compose(groups_, plan.release_tree, root);
  statistics::note_trees(plan.gather_tree, plan.release_tree, gather, release);
  return keep_first(place, std::make_unique<const Pair>(Pair{collective::gathering_position_of(gather, rank_),
                                                             collective::position_of(release, rank_)}));
}

const collective::ContiguousPosition& TreePositions::contiguous(int root) const {
  auto& place = contiguous_[static_cast<std::size_t>(root)];
  if (const auto* known = place.load(std::memory_order_acquire)) return *known;
  return keep_first(place, std::make_unique<const collective::ContiguousPosition>(
                               collective::contiguous_position(size_, rank_, root)));
}

}  // namespace espalier::runtime
