#include "runtime/node_failure.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::runtime {
namespace {

// What a line's step says.
constexpr memory::Step nothing = 0, being_written = 1, told = 2;

}  // namespace

void NodeFailure::tell(int rank, std::string_view why) {
  if (!line_) return;
  memory::Step before = nothing;
  // Relaxed: it only finds out who is first; what the first one writes is announced below.
  if (!line_->step.compare_exchange_strong(before, being_written, std::memory_order_relaxed)) return;
  const std::string text = formatted("rank {}: {}", rank, why);
  // The payload was zero, and one zero stays behind the text.
  std::memcpy(line_->payload, text.data(), std::min(text.size(), memory::inline_capacity - 1));
  line_->step.store(told, std::memory_order_release);  // pairs with check()
}

void NodeFailure::check() const {
  if (!line_ || line_->step.load(std::memory_order_acquire) != told) return;
  throw Error(formatted(
      "a collective of this communicator failed between nodes, so its ranks are out of step; make a "
      "new communicator, or set ESPALIER=off ({})",
      reinterpret_cast<const char*>(line_->payload)));
}

}  // namespace espalier::runtime
