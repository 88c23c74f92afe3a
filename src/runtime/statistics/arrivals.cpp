#include "runtime/statistics/arrivals.hpp"

#include "base/config.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime::statistics {

Arrivals::Arrivals(std::byte* share, const machine::Layout& layout, int rank) : layout_(layout), rank_(rank) {
  if (enabled() && Config::instance().flag("ESPALIER_STATS_ARRIVALS")) share_ = share;
}

std::optional<Arrivals::Wait> Arrivals::waited() const {
  const std::uint64_t own = stamps(rank_).of[call_ % 2].ticks.load(std::memory_order_relaxed);
  std::uint64_t last = own;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    const Stamps::Stamp& theirs = stamps(rank).of[call_ % 2];
    if (theirs.call.load(std::memory_order_relaxed) != call_) return std::nullopt;
    last = std::max(last, theirs.ticks.load(std::memory_order_relaxed));
  }
  return Wait{last - own, last == own};
}

}  // namespace espalier::runtime::statistics
