// Levels of ranks that run now: segments in memory that they share, and messages between nodes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/levels/levels.hpp"
#include "machine/levels/segment_operations.hpp"
#include "runtime/levels/groups.hpp"
#include "runtime/levels/levels_watch.hpp"
#include "runtime/levels/member_notes.hpp"
#include "runtime/levels/request.hpp"
#include "runtime/process/bootstrap.hpp"
#include "runtime/window/window.hpp"

namespace espalier::runtime {

/// The segment of a group over nodes lies on its leader's. There the leader ends its part of a traversal after
/// the others' parts, so that it serves them until then.
class NodeLevels final : public machine::Levels {
 public:
  /// Collective. `flaw`: why this rank's request is wrong, or empty. Throws LevelsArgument or Error, the same
  /// on all ranks. `bootstrap` is not needed any more afterwards.
  static std::unique_ptr<NodeLevels> create(const Bootstrap& bootstrap, const LevelsRequest& request,
                                            std::string flaw = "");
  /// This rank takes part in no traversal any more. Local on one node, else collective.
  ~NodeLevels() override;

  void begin() override;
  void end() override { watch_.end(); }
  void leave(const machine::OwnGroup& group) override;
  void fail(std::string_view why) override;

 private:
  struct Plan;
  NodeLevels(const Plan& plan, std::unique_ptr<Window> window);
  std::unique_ptr<machine::GroupOperations> operations_on(const Plan& plan,
                                                          const machine::GroupSegment& segment, int place);
  /// `waits`: where members that share memory wake each other, or null.
  void wait(const machine::SegmentOperations::Done& done, machine::GroupWaits* waits = nullptr);
  void look();
  void look_at(MemberNotes& notes);
  void tell_members(std::string_view why);

  std::unique_ptr<Window> window_;
  LevelsWatch watch_;
  struct OverNodes {
    int level;
    bool leads;
    MemberNotes notes;
  };
  std::vector<std::unique_ptr<OverNodes>> over_nodes_;  ///< of this rank's groups
  unsigned looks_ = 0;
};

}  // namespace espalier::runtime
