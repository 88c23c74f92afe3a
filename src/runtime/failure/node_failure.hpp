// How the ranks of a node hear that one of them has failed in a collective: what they wait for will not come.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "memory/flag_line.hpp"

namespace espalier::runtime {

/// The ranks of a communicator are out of step: one is gone, has failed, or calls something else.
class OutOfStep : public Error {
 public:
  /// `first_call`: from which on they are; 0: from the one that is under way.
  explicit OutOfStep(const std::string& why, std::uint64_t first_call = 0, Kind kind = Kind::other)
      : Error(why, kind), first_call_(first_call) {}
  std::uint64_t first_call() const { return first_call_; }

 private:
  std::uint64_t first_call_;
};

/// A rank sends another more than that takes.
class Truncated : public OutOfStep {
 public:
  explicit Truncated(const std::string& why, std::uint64_t first_call = 0)
      : OutOfStep(why, first_call, Kind::truncation) {}
};

/// A rank did not come in the time that was allowed.
class OutOfTime : public OutOfStep {
 public:
  using OutOfStep::OutOfStep;
};

/// Out of step, of a rank that has heard of it: the others need not hear it from this one.
class AlreadyTold : public OutOfStep {
 public:
  explicit AlreadyTold(std::string_view why);
  /// What was told.
  const std::string& why() const { return why_; }

 private:
  std::string why_;
};

/// Of a call after that: throws AlreadyTold.
[[noreturn]] void throw_out_of_step(std::string_view why);

/// A communicator's word of failure, on a line that its ranks of a node share. The first word stays, and the
/// first of the calls that are said to have failed: the ranks are out of step from that call on. A rank that
/// still waits in an earlier call goes on, because the rank that failed has done its part of that one. Calls
/// have numbers from 1 on, the same on all ranks.
/// Thread-safe.
class NodeFailure {
 public:
  NodeFailure() = default;  ///< ranks that share no memory hear nothing
  /// `line` was zero when the communicator was made, and belongs to this alone.
  explicit NodeFailure(memory::FlagLine& line) : line_(&line) {}

  static constexpr int no_rank = -1;
  /// `call` has failed. A long reason is cut to `longest` bytes. `receiver`: the rank that gets more than it takes, if that
  /// is the reason.
  void tell(std::uint64_t call, std::string_view why, int receiver = no_rank);
  /// What has been told of `call` or an earlier one; empty: nothing. One load: to be asked in every wait.
  std::string told(std::uint64_t call) const;
  /// Whether the reason is that `rank` gets more in `call` than it takes: its error, though the sender may find it first.
  bool tells_truncation(std::uint64_t call, int rank) const;
  /// Throws AlreadyTold with what told() returns.
  void check(std::uint64_t call) const;

  static constexpr std::size_t longest = memory::inline_capacity - sizeof(std::uint64_t) - 1;

 private:
  /// Which call has failed; 0: none. In front of the text.
  std::atomic_ref<std::uint64_t> first_call() const;
  memory::FlagLine* line_ = nullptr;
};

}  // namespace espalier::runtime
