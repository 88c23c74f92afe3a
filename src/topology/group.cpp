#include "topology/group.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::topology {

namespace {

int lowest(const Group& group) {
  int result = group.ranks.empty() ? -1 : group.ranks.front();
  for (const Group& inner : group.groups) {
    int rank = lowest(inner);
    if (result < 0 || rank < result) result = rank;
  }
  return result;
}

// Brings a group whose inner groups are tidy into the form that group.hpp promises.
Group tidy(Group group) {
  std::vector<Group> kept;
  for (Group& inner : group.groups) {
    if (inner.groups.empty() && inner.ranks.size() <= 1) {
      group.ranks.insert(group.ranks.end(), inner.ranks.begin(), inner.ranks.end());
    } else {
      kept.push_back(std::move(inner));
    }
  }
  group.groups = std::move(kept);
  if (group.ranks.empty() && group.groups.size() == 1) {
    Group only = std::move(group.groups.front());
    only.outer.push_back(group.level);
    only.outer.insert(only.outer.end(), group.outer.begin(), group.outer.end());
    return only;
  }
  std::sort(group.ranks.begin(), group.ranks.end());
  std::sort(group.groups.begin(), group.groups.end(),
            [](const Group& a, const Group& b) { return lowest(a) < lowest(b); });
  return group;
}

Group place(const Domain& domain, std::vector<int> ranks, std::span<const CpuSet> affinity) {
  Group group{domain.level, {}, {}, {}};
  for (const Domain& child : domain.children) {
    auto inside = [&](int rank) {
      const CpuSet& mask = affinity[static_cast<std::size_t>(rank)];
      return !mask.empty() && child.cpus.contains(mask);
    };
    auto rest = std::stable_partition(ranks.begin(), ranks.end(), inside);
    if (rest != ranks.begin()) group.groups.push_back(place(child, {ranks.begin(), rest}, affinity));
    ranks.erase(ranks.begin(), rest);
  }
  group.ranks = std::move(ranks);
  return tidy(std::move(group));
}

Group renumber(const Group& group, const std::unordered_map<int, int>& new_rank) {
  Group result{group.level, {}, {}, group.outer};
  for (const Group& inner : group.groups) result.groups.push_back(renumber(inner, new_rank));
  for (int rank : group.ranks) {
    if (auto found = new_rank.find(rank); found != new_rank.end()) result.ranks.push_back(found->second);
  }
  return tidy(std::move(result));
}

bool kept(Level level, std::span<const Level> levels) {
  return level == Level::machine || level == Level::virtual_domain ||
         std::find(levels.begin(), levels.end(), level) != levels.end();
}

// Names the group by those of its levels that count; false when none does.
bool rename(Group& group, std::span<const Level> levels) {
  std::vector<Level> names;
  for (Level level : levels_of(group)) {
    if (kept(level, levels)) names.push_back(level);
  }
  if (names.empty()) return false;
  group.level = names.front();
  group.outer.assign(names.begin() + 1, names.end());
  return true;
}

Group keep_within(Group group, std::span<const Level> levels) {
  std::vector<Group> stay;
  for (Group& inner : group.groups) {
    inner = keep_within(std::move(inner), levels);
    if (rename(inner, levels)) {
      stay.push_back(std::move(inner));
    } else {
      group.ranks.insert(group.ranks.end(), inner.ranks.begin(), inner.ranks.end());
      std::move(inner.groups.begin(), inner.groups.end(), std::back_inserter(stay));
    }
  }
  group.groups = std::move(stay);
  return tidy(std::move(group));
}

// `begin`: where the next word of each path begins.
Group place_by_words(std::span<const std::string> paths, std::vector<int> nodes, std::size_t begin,
                     Level level) {
  Group group{level, {}, {}, {}};
  const auto path_of = [&](int node) -> const std::string& { return paths[static_cast<std::size_t>(node)]; };
  while (!nodes.empty()) {
    const std::string& first = path_of(nodes.front());
    const std::size_t end = first.find('.', begin);
    const std::string word = begin < first.size() ? first.substr(begin, end - begin) : "";
    const auto shares_word = [&](int node) {
      const std::string& path = path_of(node);
      return begin < path.size() ? path.substr(begin, path.find('.', begin) - begin) == word : word.empty();
    };
    const auto rest = std::stable_partition(nodes.begin(), nodes.end(), shares_word);
    if (word.empty())
      group.ranks.insert(group.ranks.end(), nodes.begin(), rest);
    else
      group.groups.push_back(
          place_by_words(paths, {nodes.begin(), rest}, begin + word.size() + 1, Level::virtual_domain));
    nodes.erase(nodes.begin(), rest);
  }
  return tidy(std::move(group));
}

}  // namespace

Group group_by_switches(std::span<const std::string> paths) {
  std::vector<int> nodes(paths.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return place_by_words(paths, std::move(nodes), 0, Level::machine);
}

Group group_ranks(const Topology& topology, std::span<const CpuSet> affinity) {
  std::vector<int> ranks(affinity.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (ranks.size() < 2) return {Level::machine, {}, ranks, {}};
  return place(topology.machine, std::move(ranks), affinity);
}

Group flat_group(int n) {
  if (n < 0) throw Error(formatted("a group of {} ranks cannot be made", n));
  Group group;
  group.ranks.resize(static_cast<std::size_t>(n));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

Group split_virtual(const Group& group, int degree) {
  if (degree < 0)
    throw Error(formatted("virtual={}: a domain can be split into 2 or more, or 0 for not at all", degree));
  auto parts = static_cast<std::size_t>(degree);
  Group result{group.level, {}, {}, group.outer};
  for (const Group& inner : group.groups) result.groups.push_back(split_virtual(inner, degree));
  std::size_t n = group.ranks.size();
  if (degree < 2 || !group.groups.empty() || n <= parts) {
    result.ranks = group.ranks;
    return result;
  }
  for (std::size_t part = 0, from = 0; part < parts; ++part) {
    std::size_t to = from + n / parts + (part < n % parts ? 1 : 0);
    Group piece{Level::virtual_domain, {}, {}, {}};
    piece.ranks.assign(group.ranks.begin() + static_cast<long>(from),
                       group.ranks.begin() + static_cast<long>(to));
    result.groups.push_back(std::move(piece));
    from = to;
  }
  return tidy(std::move(result));
}

Group restrict(const Group& group, std::span<const int> members_of_it) {
  std::unordered_map<int, int> new_rank;
  for (std::size_t i = 0; i < members_of_it.size(); ++i) {
    if (!new_rank.emplace(members_of_it[i], static_cast<int>(i)).second) {
      throw Error(formatted("rank {} comes twice among the members of a communicator", members_of_it[i]));
    }
  }
  std::vector<int> there = members(group);
  for (int rank : members_of_it) {
    if (!std::binary_search(there.begin(), there.end(), rank)) {
      throw Error(
          formatted("rank {} of a communicator is not among the {} ranks of its node", rank, there.size()));
    }
  }
  return renumber(group, new_rank);
}

Group keep_levels(const Group& group, std::span<const Level> levels) {
  Group result = keep_within(group, levels);
  if (!rename(result, levels)) {  // a part of a machine: it keeps its widest name
    result.level = levels_of(result).back();
    result.outer.clear();
  }
  return result;
}

std::vector<int> members(const Group& group) {
  std::vector<int> result = group.ranks;
  for (const Group& inner : group.groups) {
    std::vector<int> more = members(inner);
    result.insert(result.end(), more.begin(), more.end());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Level> levels_of(const Group& group) {
  std::vector<Level> levels = {group.level};
  levels.insert(levels.end(), group.outer.begin(), group.outer.end());
  return levels;
}

std::string print(const Group& group) {
  std::string text;
  for (Level level : levels_of(group)) text.append(text.empty() ? "" : "/").append(to_string(level));
  char before = '(';
  auto add = [&](const std::string& part) {
    text += before;
    text += part;
    before = ' ';
  };
  for (const Group& inner : group.groups) add(print(inner));
  for (int rank : group.ranks) add(std::to_string(rank));
  return before == '(' ? text + "()" : text + ')';
}

}  // namespace espalier::topology
