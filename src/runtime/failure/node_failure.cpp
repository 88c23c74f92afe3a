#include "runtime/failure/node_failure.hpp"

#include <algorithm>
#include <cstring>

#include "base/format.hpp"

namespace espalier::runtime {
namespace {

// What a line's step says; told_to(receiver) comes after them.
constexpr memory::Step nothing = 0, being_written = 1, told_to_no_rank = 2;

constexpr memory::Step told_to(int receiver) {
  return told_to_no_rank + static_cast<memory::Step>(receiver - NodeFailure::no_rank);
}

// Which call the text is of: the line's first call may be lowered later.
constexpr std::uint32_t mark_of(std::uint64_t call) { return static_cast<std::uint32_t>(call); }

}  // namespace

AlreadyTold::AlreadyTold(std::string_view why)
    : OutOfStep(
          formatted("a collective of this communicator failed, so its ranks are out of step; make a new "
                    "communicator, or set ESPALIER=off ({})",
                    why)),
      why_(why) {}

void throw_out_of_step(std::string_view why) { throw AlreadyTold(why); }

std::atomic_ref<std::uint64_t> NodeFailure::first_call() const {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(line_->payload));
}

// The rank that tells first may be a call ahead of one that tells later: its text stays, the lower number counts.
void NodeFailure::tell(std::uint64_t call, std::string_view why, int receiver) {
  if (!line_) return;
  // relaxed: a rank that sees a number late waits on for one more look.
  std::uint64_t told = first_call().load(std::memory_order_relaxed);
  while ((told == 0 || call < told) &&
         !first_call().compare_exchange_weak(told, call, std::memory_order_relaxed)) {
  }
  memory::Step before = nothing;
  // Relaxed: it only finds out who is first; what the first one writes is announced below.
  if (!line_->step.compare_exchange_strong(before, being_written, std::memory_order_relaxed)) return;
  // The payload was zero, and one zero stays behind the text.
  std::memcpy(line_->payload + sizeof call, why.data(), std::min(why.size(), longest));
  line_->fingerprint.store(mark_of(call), std::memory_order_relaxed);
  line_->step.store(told_to(receiver), std::memory_order_release);  // pairs with told(), tells_truncation()
}

std::string NodeFailure::told(std::uint64_t call) const {
  if (!line_ || line_->step.load(std::memory_order_acquire) < told_to_no_rank) return {};
  if (call < first_call().load(std::memory_order_relaxed)) return {};
  const auto* text = reinterpret_cast<const char*>(line_->payload + sizeof call);
  return {text, strnlen(text, longest)};
}

bool NodeFailure::tells_truncation(std::uint64_t call, int rank) const {
  return line_ && line_->step.load(std::memory_order_acquire) == told_to(rank) &&
         line_->fingerprint.load(std::memory_order_relaxed) == mark_of(call);
}

void NodeFailure::check(std::uint64_t call) const {
  if (const std::string why = told(call); !why.empty()) throw_out_of_step(why);
}

}  // namespace espalier::runtime
