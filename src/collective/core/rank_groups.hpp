// Ranks in groups of neighbours, so that a rank hears from its own group and from one rank of each other group
// instead of from all: about two square roots of their number.
#pragma once

#include <algorithm>
#include <bit>

namespace espalier::collective {

/// Groups of ranks that follow on each other. All have a power of two of ranks, but for the last, which may have
/// fewer. Where ranks are in the order of the cores such groups lie within domains of the machine, most of which
/// have a power of two of cores, too.
class RankGroups {
 public:
  /// As many ranks in a group as there are groups, or twice as many. At least two ranks.
  explicit RankGroups(int ranks)
      : ranks_(ranks), shift_((std::bit_width(static_cast<unsigned>(ranks - 1)) + 1) / 2) {}

  int count() const { return ((ranks_ - 1) >> shift_) + 1; }
  int group_of(int rank) const { return rank >> shift_; }
  int first(int group) const { return group << shift_; }
  int end(int group) const { return std::min(ranks_, (group + 1) << shift_); }
  int size_of(int group) const { return end(group) - first(group); }
  /// The i-th group behind that one, around. Where each rank begins with its own, not all look at the same.
  int behind(int group, int i) const { return group + i < count() ? group + i : group + i - count(); }

 private:
  int ranks_, shift_;
};

}  // namespace espalier::collective
