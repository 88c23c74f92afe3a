#include "simulation/model/holders.hpp"

#include <algorithm>

namespace espalier::simulation {

const CoreLevel* distance(const NodeModel& node, int one, int other) {
  if (one == other) return nullptr;
  for (const CoreLevel& level : node.levels)
    if (one / level.cores == other / level.cores) return &level;
  return &node.levels.back();
}

void Holders::be_written(int core, double visible) {
  givers_.clear();
  std::fill(has_.begin(), has_.end(), 0);
  givers_.push_back({core, visible, visible});
  const auto word = static_cast<std::size_t>(core) / 64;
  if (word >= has_.size()) has_.resize(word + 1);
  has_[word] |= std::uint64_t{1} << (core % 64);
}

void Holders::add(const NodeModel& node, int core, double ready) {
  if (has(core)) return;
  const auto word = static_cast<std::size_t>(core) / 64;
  if (word >= has_.size()) has_.resize(word + 1);
  has_[word] |= std::uint64_t{1} << (core % 64);
  // One beside the writer in its own domain: a store has to know that a core there has the data.
  const int width = node.levels.front().cores;
  const auto stands_for = [&](const Holder& other) { return other.core / width == core / width; };
  if (givers_.size() > 1 && std::any_of(givers_.begin() + 1, givers_.end(), stands_for)) return;
  givers_.push_back({core, ready, ready});
}

Holders::Source Holders::nearest(const NodeModel& node, int core) {
  Source found;
  for (Holder& holder : givers_) {
    const CoreLevel* level = distance(node, holder.core, core);
    if (found.level == nullptr || level < found.level) found = {&holder, level};
  }
  return found;
}

const CoreLevel* Holders::farthest(const NodeModel& node, int core) const {
  const CoreLevel* found = nullptr;
  for (const Holder& holder : givers_) {
    const CoreLevel* level = distance(node, holder.core, core);
    if (level != nullptr && (found == nullptr || level > found)) found = level;
  }
  return found;
}

}  // namespace espalier::simulation
