// How the members of a group over nodes hear how far each of them is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/levels/levels.hpp"
#include "network/window/window.hpp"

namespace espalier::runtime {

/// Each member has a note on the leader's node: which traversal it has finished there, and whether it has
/// failed or left since. The leader reads all notes, the others the leader's. Used by one thread at a time.
class MemberNotes {
 public:
  /// `node`: the leader's, in the window. `segments`: where that node's segments begin. Both must outlive this.
  MemberNotes(network::NodeWindow& window, int node, std::size_t segments,
              const machine::GroupSegment& segment, int place);

  void finish(std::uint64_t traversal);
  void fail(std::string_view why);
  void leave();
  /// At the leader: whether all others have finished it.
  bool all_finished(std::uint64_t traversal);
  /// Why the part of another member in a traversal will not come; empty: nothing is known. Asks the leader's
  /// node, and waits for its answer.
  std::string trouble(std::uint64_t traversal);

 private:
  std::size_t at(std::size_t place) const { return first_ + place * machine::LevelsLayout::note_bytes; }
  void say();
  std::uint64_t state_of(std::size_t place);
  std::string trouble_of(std::size_t place, std::uint64_t traversal);

  network::NodeWindow& window_;
  int node_;
  std::size_t first_, place_;
  std::vector<int> members_;
  std::uint64_t finished_ = 0, marks_ = 0;
};

}  // namespace espalier::runtime
