// The levels of some ranks: nested groups, where their segments lie, and which traversal runs (OSMP IV and
// V).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/levels/group_operations.hpp"
#include "topology/group.hpp"
#include "tree/levels.hpp"

namespace espalier::machine {

/// A group and its segment, which lies on its leader's node, behind the segments of others there.
struct GroupSegment {
  tree::LevelGroup group;
  int node = 0;
  bool over_nodes = false;  ///< it has members elsewhere
  std::size_t offset = 0, bytes = 0;
};

/// Equal on all ranks.
class LevelsLayout {
 public:
  /// `shared_bytes`, `member_bytes`: of each segment's common part, and of each member's; multiples of 64.
  /// `node_of`: by rank, from 0; empty: all are on one node.
  LevelsLayout(const topology::Group& groups, int root, std::size_t shared_bytes, std::size_t member_bytes,
               const std::vector<int>& node_of = {});

  int count() const { return segments_.back().group.level + 1; }
  const std::string& text() const { return text_; }
  std::size_t shared_bytes() const { return shared_bytes_; }
  std::size_t member_bytes() const { return member_bytes_; }
  /// Inner groups before those around them.
  const std::vector<GroupSegment>& segments() const { return segments_; }
  /// Of the fullest node.
  std::size_t bytes() const { return bytes_; }
  /// Behind each segment lie its GroupWaits.
  static constexpr std::size_t waits_bytes = 128;
  static std::size_t waits_of(const GroupSegment& segment);
  /// Behind those of a group over nodes each member has room for a note.
  static constexpr std::size_t note_bytes = 128;
  static std::size_t note_of(const GroupSegment& segment, int place);

 private:
  std::string text_;
  std::size_t shared_bytes_, member_bytes_, bytes_ = 0;
  std::vector<GroupSegment> segments_;
};

/// A group that this rank is a member of.
struct OwnGroup {
  tree::LevelGroup group;
  bool over_nodes = false;
  int place = 0;
  std::unique_ptr<GroupOperations> operations;
};

/// As one rank has them; what its machine is the derived class knows. Used by one thread at a time.
class Levels {
 public:
  virtual ~Levels() = default;
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;

  int rank() const { return rank_; }
  const LevelsLayout& layout() const { return layout_; }
  /// Null where this rank has no group.
  const OwnGroup* own(int level) const;
  /// The number of the last one that has begun, from 1; 0: none has.
  std::uint64_t traversal() const { return traversal_; }

  /// Of a traversal, or of this rank's part of it. begin() throws when an earlier one has failed on any rank.
  virtual void begin() { ++traversal_; }
  virtual void end() {}
  /// This rank has done what it does in that group in this traversal.
  virtual void leave(const OwnGroup& /*group*/) {}
  /// In place of end(): the others hear that the rest of this rank's part will not come.
  virtual void fail(std::string_view /*why*/) {}

 protected:
  Levels(LevelsLayout layout, int rank) : layout_(std::move(layout)), rank_(rank) {}
  /// For each group that this rank is a member of: `operations_on(segment, place)`.
  template <class OperationsOn>
  void take_own(OperationsOn operations_on) {
    for (const GroupSegment& segment : layout_.segments())
      if (const int place = tree::place_in(segment.group, rank_); place >= 0)
        own_.push_back({segment.group, segment.over_nodes, place, operations_on(segment, place)});
  }

 private:
  LevelsLayout layout_;
  int rank_;
  std::uint64_t traversal_ = 0;
  std::vector<OwnGroup> own_;  ///< by rising level
};

}  // namespace espalier::machine
