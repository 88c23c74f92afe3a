#include "machine/levels/levels.hpp"

#include <algorithm>
#include <map>

namespace espalier::machine {
namespace {

// Groups do not disturb each other: pairs of cache lines are fetched together.
std::size_t whole_pairs_of_lines(std::size_t bytes) { return (bytes + 127) / 128 * 128; }

}  // namespace

LevelsLayout::LevelsLayout(const topology::Group& groups, int root, std::size_t shared_bytes,
                           std::size_t member_bytes, const std::vector<int>& node_of)
    : text_(topology::print(groups)), shared_bytes_(shared_bytes), member_bytes_(member_bytes) {
  std::map<int, std::size_t> taken;  // by node
  const auto node = [&](int rank) { return node_of.empty() ? 0 : node_of[static_cast<std::size_t>(rank)]; };
  for (tree::LevelGroup& group : tree::level_groups(groups, root)) {
    const int home = node(group.members.front());
    const bool over_nodes = std::any_of(group.members.begin(), group.members.end(),
                                        [&](int member) { return node(member) != home; });
    const std::size_t members = group.members.size(), bytes = shared_bytes + members * member_bytes;
    segments_.push_back({std::move(group), home, over_nodes, taken[home], bytes});
    taken[home] += whole_pairs_of_lines(bytes) + waits_bytes + (over_nodes ? members * note_bytes : 0);
    bytes_ = std::max(bytes_, taken[home]);
  }
  if (segments_.back().over_nodes) text_.replace(0, text_.find('('), "nodes");
}

std::size_t LevelsLayout::waits_of(const GroupSegment& segment) {
  return segment.offset + whole_pairs_of_lines(segment.bytes);
}

std::size_t LevelsLayout::note_of(const GroupSegment& segment, int place) {
  return waits_of(segment) + waits_bytes + static_cast<std::size_t>(place) * note_bytes;
}

const OwnGroup* Levels::own(int level) const {
  const auto found =
      std::find_if(own_.begin(), own_.end(), [&](const OwnGroup& own) { return own.group.level == level; });
  return found == own_.end() ? nullptr : &*found;
}

}  // namespace espalier::machine
