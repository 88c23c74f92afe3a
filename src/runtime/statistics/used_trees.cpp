#include "runtime/statistics/used_trees.hpp"

#include <cstddef>
#include <mutex>
#include <utility>

#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime::statistics {
namespace {

constexpr int most_ranks = 1024;
constexpr std::size_t most_trees = 256;

struct Kept {
  std::mutex mutex;
  std::set<UsedTrees> trees;
};

// Never destroyed: a thread may still compose trees while the process ends.
Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

}  // namespace

void note_trees(const tree::Spec& gather_tree, const tree::Spec& release_tree, const tree::Tree& gather,
                const tree::Tree& release) {
  if (!enabled() || gather.size() > most_ranks) return;
  UsedTrees used{gather.size(),           gather.root,   to_string(gather_tree),
                 to_string(release_tree), print(gather), print(release)};
  Kept& all = kept();
  const std::scoped_lock lock(all.mutex);
  if (all.trees.size() < most_trees) all.trees.insert(std::move(used));
}

std::set<UsedTrees> used_trees() {
  Kept& all = kept();
  const std::scoped_lock lock(all.mutex);
  return all.trees;
}

}  // namespace espalier::runtime::statistics
