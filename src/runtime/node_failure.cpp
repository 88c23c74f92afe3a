#include "runtime/node_failure.hpp"

#include <algorithm>
#include <cstring>

#include "base/format.hpp"

namespace espalier::runtime {
namespace {

// What a line's step says.
constexpr memory::Step nothing = 0, being_written = 1, told_step = 2;

}  // namespace

AlreadyTold::AlreadyTold(std::string_view why)
    : OutOfStep(formatted("a collective of this communicator failed, so its ranks are out of step; make a new "
                          "communicator, or set ESPALIER=off ({})",
                          why)),
      why_(why) {}

void throw_out_of_step(std::string_view why) { throw AlreadyTold(why); }

void NodeFailure::tell(std::string_view why) {
  if (!line_) return;
  memory::Step before = nothing;
  // Relaxed: it only finds out who is first; what the first one writes is announced below.
  if (!line_->step.compare_exchange_strong(before, being_written, std::memory_order_relaxed)) return;
  // The payload was zero, and one zero stays behind the text.
  std::memcpy(line_->payload, why.data(), std::min(why.size(), memory::inline_capacity - 1));
  line_->step.store(told_step, std::memory_order_release);  // pairs with told()
}

std::string NodeFailure::told() const {
  if (!line_ || line_->step.load(std::memory_order_acquire) != told_step) return {};
  return reinterpret_cast<const char*>(line_->payload);
}

void NodeFailure::check() const {
  if (const std::string why = told(); !why.empty()) throw_out_of_step(why);
}

}  // namespace espalier::runtime
