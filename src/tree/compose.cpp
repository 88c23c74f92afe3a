#include "tree/compose.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::tree {

using topology::Group;

namespace {

// What takes part in a group: a rank, or an inner group by its leader.
struct Member {
  int leader;
  int lowest;
};

class Composer {
 public:
  Composer(const Spec& spec, int root, int n) : spec_(spec), tree_(unconnected(n, root)) {}

  Tree compose(const Group& group) {
    join(group);
    return std::move(tree_);
  }

 private:
  Member join(const Group& group) {
    std::vector<Member> members;
    members.reserve(group.ranks.size() + group.groups.size());
    for (int rank : group.ranks) members.push_back({rank, rank});
    for (const Group& inner : group.groups) members.push_back(join(inner));
    std::sort(members.begin(), members.end(), [](Member a, Member b) { return a.lowest < b.lowest; });
    int lowest = members.front().lowest;
    auto root =
        std::find_if(members.begin(), members.end(), [&](Member m) { return m.leader == tree_.root; });
    if (root != members.end()) std::rotate(members.begin(), root, members.end());
    connect(members, spec_.shape_of(group));
    return {members.front().leader, lowest};
  }

  // Inner groups are joined before outer ones: what a leader serves already is of groups further in.
  void connect(const std::vector<Member>& members, Shape shape) {
    auto children = children_by_position(shape, spec_.skew, static_cast<int>(members.size()));
    for (std::size_t position = 0; position < members.size(); ++position) {
      int rank = members[position].leader;
      auto& served = tree_.children[static_cast<std::size_t>(rank)];
      auto inner = static_cast<long>(served.size());
      for (int child : children[position])
        attach(tree_, rank, members[static_cast<std::size_t>(child)].leader);
      if (spec_.leaders == Leaders::first) std::rotate(served.begin(), served.begin() + inner, served.end());
    }
  }

  const Spec& spec_;
  Tree tree_;
};

void check(const std::vector<int>& ranks, int root) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == static_cast<int>(i)) continue;
    throw Error(
        formatted("a tree needs groups of the ranks 0 to {}, each once; rank {} is missing or out of place",
                  ranks.size() - 1, i));
  }
  if (root < 0 || root >= static_cast<int>(ranks.size())) {
    throw Error(formatted("a tree over {} ranks cannot have the root {}", ranks.size(), root));
  }
}

}  // namespace

Tree compose(const Group& group, const Spec& spec, int root) {
  auto ranks = topology::members(group);
  check(ranks, root);
  Composer composer(spec, root, static_cast<int>(ranks.size()));
  Group counted = spec.levels ? topology::keep_levels(group, *spec.levels) : group;
  return composer.compose(topology::split_virtual(counted, spec.virtual_degree));
}

}  // namespace espalier::tree
