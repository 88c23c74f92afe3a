// Operators that do not commute: rank order, for every root.
#include <mutex>
#include <string>

#include "collective/node/reductions/reduce_whole.hpp"
#include "tests/collective/affine.hpp"
#include "tests/collective/ranks.hpp"
#include "tree/contiguous.hpp"

namespace espalier::collective {
namespace {

using testing::Affine;
using testing::WatchedMachine;

ContiguousPosition place_in(const tree::ContiguousTree& all, int rank) {
  const auto& children = all.tree.children_of(rank);
  const auto middle = children.begin() + all.left[static_cast<std::size_t>(rank)];
  return {all.tree.root, all.tree.parent_of(rank), {children.begin(), middle}, {middle, children.end()}};
}

TEST(ReduceWhole, KeepsRankOrderForEveryRoot) {
  for (const int n : {2, 3, 5, 8, 13}) {
    std::vector<std::vector<ContiguousPosition>> places(static_cast<std::size_t>(n));
    for (int root = 0; root < n; ++root)
      for (int rank = 0; rank < n; ++rank)
        places[static_cast<std::size_t>(root)].push_back(place_in(tree::contiguous(n, root, 3), rank));
    testing::Ranks ranks(n);
    std::mutex mutex;
    ranks.run([&](WatchedMachine& m) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{300}, std::size_t{5000}})
        for (int root = 0; root < n; ++root) {
          const std::vector<Affine> send = testing::maps_of(m.rank(), count);
          std::vector<Affine> receive(count);
          const std::vector<Affine> wanted = testing::composed(0, n - 1, count);
          testing::Length length{count};
          reduce_whole(m, places[static_cast<std::size_t>(root)][static_cast<std::size_t>(m.rank())],
                       send.data(), receive.data(), count * sizeof(Affine),
                       {testing::combine_affine, &length}, Plan{});
          if (m.rank() != root || receive == wanted) continue;
          const std::lock_guard lock(mutex);
          ADD_FAILURE() << n << " ranks, root " << root << ", " << count << " elements";
        }
    });
  }
}

}  // namespace
}  // namespace espalier::collective
