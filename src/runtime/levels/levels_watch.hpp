// How a rank that waits in a base case learns that what it waits for will not come.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/failure/liveness.hpp"
#include "runtime/failure/node_failure.hpp"

namespace espalier::runtime {

/// Of one rank; the ranks of a node share `memory`, which was zero when the levels were made: the failure that
/// was told first, and for each rank which traversals it has finished. Used by one thread at a time.
class LevelsWatch {
 public:
  static std::size_t bytes(std::size_t ranks);

  /// `self`: this rank's place in `marks`, the node's processes, which run now. `names`: the ranks' numbers.
  LevelsWatch(std::byte* memory, std::size_t self, std::vector<ProcessMark> marks, std::vector<int> names);

  /// Throws OutOfStep when a rank has failed in this traversal or an earlier one.
  void check(std::uint64_t traversal) const;
  /// Of a traversal of this rank; begin() checks.
  void begin(std::uint64_t traversal);
  void end();
  /// To be called whenever a wait has looked in vain: checks, and looks now and then whether another rank has
  /// ended or left without having finished the traversal that this rank is in. In none, a rank that is gone
  /// is missing.
  void look();
  /// This rank's part of the traversal that it is in will not come, or nothing more of it.
  void tell(std::string_view why);
  /// What tell() has said, or another rank; empty: nothing that concerns `traversal`.
  std::string told(std::uint64_t traversal) const { return failure_.told(traversal); }
  /// This rank takes part in no traversal any more.
  void leave();

 private:
  void look_at(std::size_t peer);
  [[noreturn]] void fail(std::string_view why);
  std::uint64_t current() const;
  std::atomic_ref<std::uint64_t> state_of(std::size_t rank) const;

  std::byte* memory_;
  std::size_t self_;
  std::vector<ProcessMark> marks_;
  std::vector<int> names_;
  std::vector<bool> is_visible_;  ///< an end of this rank's process can be seen from here
  NodeFailure failure_;
  std::uint64_t running_ = 0, finished_ = 0;  ///< traversals; running: 0 in none
  unsigned looks_ = 0;
  std::size_t next_peer_ = 0;
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace espalier::runtime
