// Operators that do not commute: rank order, for every root.
#include <mutex>
#include <string>

#include "collective/reduce_whole.hpp"
#include "tests/collective/ranks.hpp"
#include "tree/contiguous.hpp"

namespace espalier::collective {
namespace {

using machine::HostMachine;

// Affine maps x -> a x + b modulo a prime, composed: associative, does not commute.
struct Affine {
  std::uint64_t a, b;
  bool operator==(const Affine&) const = default;
};
constexpr std::uint64_t prime = 1000003;
Affine after(const Affine& left, const Affine& right) {
  return {left.a * right.a % prime, (left.b * right.a + right.b) % prime};
}
Affine map_of(int rank, std::size_t index) {
  return {static_cast<std::uint64_t>(rank) * 17 + index + 2,
          static_cast<std::uint64_t>(rank) * 1009 + index * 3 + 1};
}

struct Length {
  std::size_t count;
};
void combine(void* context, const void* left, void* right) {
  const auto* l = static_cast<const Affine*>(left);
  auto* r = static_cast<Affine*>(right);
  for (std::size_t i = 0; i < static_cast<Length*>(context)->count; ++i) r[i] = after(l[i], r[i]);
}

ContiguousPlace place_in(const tree::ContiguousTree& all, int rank) {
  const auto& children = all.tree.children_of(rank);
  const auto middle = children.begin() + all.left[static_cast<std::size_t>(rank)];
  return {all.tree.root, all.tree.parent_of(rank), {children.begin(), middle}, {middle, children.end()}};
}

TEST(ReduceWhole, KeepsRankOrderForEveryRoot) {
  for (const int n : {2, 3, 5, 8, 13}) {
    std::vector<std::vector<ContiguousPlace>> places(static_cast<std::size_t>(n));
    for (int root = 0; root < n; ++root)
      for (int rank = 0; rank < n; ++rank)
        places[static_cast<std::size_t>(root)].push_back(place_in(tree::contiguous(n, root, 3), rank));
    testing::Ranks ranks(n);
    std::mutex mutex;
    ranks.run([&](HostMachine& m) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{300}, std::size_t{5000}})
        for (int root = 0; root < n; ++root) {
          std::vector<Affine> send(count), receive(count), wanted(count);
          for (std::size_t i = 0; i < count; ++i) {
            send[i] = map_of(m.rank(), i);
            wanted[i] = map_of(0, i);
            for (int r = 1; r < n; ++r) wanted[i] = after(wanted[i], map_of(r, i));
          }
          Length length{count};
          reduce_whole(m, places[static_cast<std::size_t>(root)][static_cast<std::size_t>(m.rank())],
                       send.data(), receive.data(), count * sizeof(Affine), {combine, &length}, Plan{});
          if (m.rank() != root || receive == wanted) continue;
          const std::lock_guard lock(mutex);
          ADD_FAILURE() << n << " ranks, root " << root << ", " << count << " elements";
        }
    });
  }
}

}  // namespace
}  // namespace espalier::collective
