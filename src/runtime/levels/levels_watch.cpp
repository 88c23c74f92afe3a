#include "runtime/levels/levels_watch.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/format.hpp"

namespace espalier::runtime {
namespace {

constexpr unsigned looks_between = 16;
constexpr std::chrono::milliseconds all_within{100};  // all ranks are looked at about so often
// Each rank writes its state at the end of each traversal: on a line of its own, which others read seldom.
constexpr std::size_t state_bytes = 64;

// What a rank's state says: which traversal it has finished, and whether it has left.
constexpr std::uint64_t left_mark = 1;
constexpr std::uint64_t state_after(std::uint64_t finished) { return finished << 1; }
constexpr std::uint64_t finished_in(std::uint64_t state) { return state >> 1; }

[[noreturn]] void throw_no_use(std::string_view why) {
  throw OutOfStep(formatted("a base case cannot go on, and its levels are of no more use: {}", why));
}

}  // namespace

std::size_t LevelsWatch::bytes(std::size_t ranks) { return sizeof(memory::FlagLine) + ranks * state_bytes; }

LevelsWatch::LevelsWatch(std::byte* memory, std::size_t self, std::vector<ProcessMark> marks,
                         std::vector<int> names)
    : memory_(memory),
      self_(self),
      marks_(std::move(marks)),
      names_(std::move(names)),
      failure_(*reinterpret_cast<memory::FlagLine*>(memory)),
      next_peer_(self) {
  is_visible_.reserve(marks_.size());
  for (const ProcessMark& mark : marks_) is_visible_.push_back(liveness_of(mark) == Liveness::runs);
}

std::atomic_ref<std::uint64_t> LevelsWatch::state_of(std::size_t rank) const {
  return std::atomic_ref(
      *reinterpret_cast<std::uint64_t*>(memory_ + sizeof(memory::FlagLine) + rank * state_bytes));
}

std::uint64_t LevelsWatch::current() const { return running_ != 0 ? running_ : finished_ + 1; }

void LevelsWatch::check(std::uint64_t traversal) const {
  if (const std::string why = failure_.told(traversal); !why.empty()) throw_no_use(why);
}

void LevelsWatch::begin(std::uint64_t traversal) {
  check(traversal);
  running_ = traversal;
}

void LevelsWatch::end() {
  finished_ = running_;
  running_ = 0;
  // release: pairs with look_at(); what this rank stored in segments comes before.
  state_of(self_).store(state_after(finished_), std::memory_order_release);
}

// By looks and by time: a look at a process costs a system call, and the time is not free either.
void LevelsWatch::look() {
  check(current());
  if (++looks_ % looks_between != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + all_within / static_cast<int>(std::min<std::size_t>(marks_.size(), 100));
  next_peer_ = (next_peer_ + 1) % marks_.size();
  if (next_peer_ != self_) look_at(next_peer_);
}

void LevelsWatch::look_at(std::size_t peer) {
  const bool has_ended = is_visible_[peer] && liveness_of(marks_[peer]) == Liveness::ended;
  // acquire: pairs with end() and leave(). After the look at the process: one that finished and ended
  // meanwhile has finished.
  const std::uint64_t state = state_of(peer).load(std::memory_order_acquire);
  const bool has_left = (state & left_mark) != 0;
  if (!has_ended && !has_left) return;
  if (running_ != 0 && finished_in(state) >= running_) return;
  fail(formatted("rank {} has {}", names_[peer], has_left ? "freed its levels" : "ended"));
}

void LevelsWatch::fail(std::string_view why) {
  tell(why);
  check(current());
  // Another rank is telling at this moment: its text is not there yet.
  throw_no_use(why);
}

void LevelsWatch::tell(std::string_view why) { failure_.tell(current(), why); }

void LevelsWatch::leave() {
  // release: as in end().
  state_of(self_).store(state_after(finished_) | left_mark, std::memory_order_release);
}

}  // namespace espalier::runtime
