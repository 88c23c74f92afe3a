#include "tree/levels.hpp"

#include <algorithm>
#include <utility>

namespace espalier::tree {
namespace {

using topology::Group;

// What takes part in a group: a rank, or an inner group by its leader.
struct GroupMember {
  int leader, lowest;
};

struct Joined {
  GroupMember member;
  int level;
};

Joined join_up(const Group& group, int root, std::vector<LevelGroup>& all) {
  std::vector<GroupMember> members;
  int level = 0;
  for (const int rank : group.ranks) members.push_back({rank, rank});
  for (const Group& inner : group.groups) {
    const Joined joined = join_up(inner, root, all);
    members.push_back(joined.member);
    level = std::max(level, joined.level + 1);
  }
  std::sort(members.begin(), members.end(), [](GroupMember a, GroupMember b) { return a.lowest < b.lowest; });
  const int lowest = members.front().lowest;
  const auto leads =
      std::find_if(members.begin(), members.end(), [&](GroupMember m) { return m.leader == root; });
  if (leads != members.end()) std::rotate(members.begin(), leads, members.end());
  LevelGroup made{level, group.level, {}};
  for (const GroupMember member : members) made.members.push_back(member.leader);
  all.push_back(std::move(made));
  return {{members.front().leader, lowest}, level};
}

}  // namespace

std::vector<LevelGroup> level_groups(const Group& group, int root) {
  std::vector<LevelGroup> all;
  join_up(group, root, all);
  return all;
}

int place_in(const LevelGroup& group, int rank) {
  const auto self = std::find(group.members.begin(), group.members.end(), rank);
  return self == group.members.end() ? -1 : static_cast<int>(self - group.members.begin());
}

Group split_virtual_levels(Group group, int degree, int times) {
  for (int time = 0; time < times; ++time) {
    Group split = topology::split_virtual(group, degree);
    if (split == group) break;
    group = std::move(split);
  }
  return group;
}

}  // namespace espalier::tree
