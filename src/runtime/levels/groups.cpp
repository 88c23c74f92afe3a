#include "runtime/levels/groups.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/format.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"

namespace espalier::runtime {
namespace {

using collective::multinode::Placement;
using topology::Group;

// Of this rank's node, from what its ranks have said of themselves when they joined: equal on all of them.
Group own_node(const std::vector<LevelsCard>& cards, const std::vector<int>& ranks) {
  const NodeState& node = *Process::instance().node();
  std::vector<topology::CpuSet> masks;
  masks.reserve(ranks.size());
  for (const int rank : ranks)
    masks.push_back(node.affinity_of(cards[static_cast<std::size_t>(rank)].node_rank));
  return topology::group_ranks(node.machine(), masks);
}

Group renumbered(Group group, const std::vector<int>& ranks) {
  for (int& rank : group.ranks) rank = ranks[static_cast<std::size_t>(rank)];
  for (Group& inner : group.groups) inner = renumbered(std::move(inner), ranks);
  return group;
}

// The first rank of each node tells the others of its groups.
std::vector<std::string> exchange_texts(const Bootstrap& bootstrap, const std::string& mine) {
  const auto sizes = exchange(bootstrap, mine.size());
  const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
  std::string padded = mine, all(most * sizes.size(), ' ');
  padded.resize(most, ' ');
  if (most > 0) bootstrap.allgather(padded.data(), all.data(), most);
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (std::size_t rank = 0; rank < sizes.size(); ++rank)
    texts.push_back(all.substr(rank * most, sizes[rank]));
  return texts;
}

Group over_nodes(const Bootstrap& bootstrap, const std::vector<LevelsCard>& cards,
                 const Placement& placement) {
  const auto self = static_cast<std::size_t>(bootstrap.rank);
  const std::vector<int>& here = placement.ranks_of[static_cast<std::size_t>(placement.node_of[self])];
  std::string mine;
  if (here.front() == bootstrap.rank && here.size() > 1)
    mine = topology::print(renumbered(own_node(cards, here), here));
  const auto texts = exchange_texts(bootstrap, mine);
  Group all{topology::Level::virtual_domain, {}, {}, {}};
  for (const std::vector<int>& ranks : placement.ranks_of)
    if (ranks.size() == 1)
      all.ranks.push_back(ranks.front());
    else
      all.groups.push_back(tree::parse_some_groups(texts[static_cast<std::size_t>(ranks.front())]));
  return all;
}

}  // namespace

Group groups_for(const Bootstrap& bootstrap, const LevelsRequest& request,
                 const std::vector<LevelsCard>& cards, const Placement& placement) {
  const Group group = !request.tree.empty()    ? tree::parse_groups(request.tree, bootstrap.size)
                      : placement.nodes() == 1 ? own_node(cards, placement.ranks_of.front())
                                               : over_nodes(bootstrap, cards, placement);
  return tree::split_virtual_levels(group, request.degree, request.virtual_levels);
}

std::vector<int> speakers_first(const std::vector<tree::LevelGroup>& groups,
                                const std::vector<int>& node_of) {
  const auto node = [&](int rank) { return node_of[static_cast<std::size_t>(rank)]; };
  std::vector<int> order;
  for (const tree::LevelGroup& group : groups) {
    const int home = node(group.members.front());
    if (std::all_of(group.members.begin(), group.members.end(), [&](int m) { return node(m) == home; }))
      continue;
    for (const int member : group.members) {
      const auto same =
          std::find_if(order.begin(), order.end(), [&](int m) { return node(m) == node(member); });
      if (same == order.end())
        order.push_back(member);
      else if (*same != member)
        throw LevelsArgument(formatted(
            "ranks {} and {} are on one node, and both in groups over nodes: give each node a group "
            "of its own",
            *same, member));
    }
  }
  for (int rank = 0; rank < static_cast<int>(node_of.size()); ++rank)
    if (std::find(order.begin(), order.end(), rank) == order.end()) order.push_back(rank);
  return order;
}

Bootstrap reordered(const Bootstrap& bootstrap, std::vector<int> order) {
  const int self = static_cast<int>(std::find(order.begin(), order.end(), bootstrap.rank) - order.begin());
  const auto gather = [allgather = bootstrap.allgather, order = std::move(order)](const void* mine, void* all,
                                                                                  std::size_t bytes) {
    std::vector<std::byte> theirs(bytes * order.size());
    allgather(mine, theirs.data(), bytes);
    for (std::size_t i = 0; i < order.size(); ++i)
      std::memcpy(static_cast<std::byte*>(all) + i * bytes,
                  theirs.data() + static_cast<std::size_t>(order[i]) * bytes, bytes);
  };
  return {self, bootstrap.size, gather, bootstrap.left_ms};
}

}  // namespace espalier::runtime
