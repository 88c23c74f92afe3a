#include "runtime/statistics/arrivals.hpp"

#include <algorithm>

#include "base/config.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime::statistics {

Arrivals::Arrivals(std::byte* share, const machine::Layout& layout, int rank) : layout_(layout), rank_(rank) {
  if (enabled() && Config::instance().flag("ESPALIER_STATS_ARRIVALS")) share_ = share;
}

void Arrivals::expect(Collective collective, std::size_t bytes, int root) {
  bytes_ = bytes;
  const CollectiveTraits& facts = traits(collective);
  const bool from_root = collective == Collective::bcast || collective == Collective::scatter;
  const bool is_root = rank_ == root;
  first_awaited_ = 0, end_awaited_ = layout_.ranks;
  is_awaited_ = true;
  if (facts.is_scan) {
    end_awaited_ = rank_;
    is_awaited_ = rank_ + 1 < layout_.ranks;
  } else if (from_root) {
    first_awaited_ = root, end_awaited_ = is_root ? root : root + 1;
    is_awaited_ = is_root;
  } else if (facts.has_root) {
    end_awaited_ = is_root ? layout_.ranks : 0;
    is_awaited_ = !is_root;
  }
}

std::optional<std::int64_t> Arrivals::after_this_rank(int rank) const {
  constexpr int above = 64 - clock_bits;
  const std::size_t place = call_ % Stamps::kept;
  const std::uint64_t own = stamps(rank_).of[place].load(std::memory_order_relaxed),
                      theirs = stamps(rank).of[place].load(std::memory_order_relaxed);
  const auto calls_ahead = static_cast<std::int16_t>((theirs >> clock_bits) - (own >> clock_bits));
  if (theirs == 0 || calls_ahead < 0) return std::nullopt;
  if (calls_ahead > 0) return 0;
  return static_cast<std::int64_t>((theirs << above) - (own << above)) >> above;
}

// Those for which a rank waits have come when it leaves, or they count nothing. Others may come later.
std::optional<Arrivals::Wait> Arrivals::waited() const {
  std::int64_t longest = 0, last = 0, first = 0;
  bool have_all_come = true;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    const auto after = after_this_rank(rank);
    if (!after && waits_for(rank)) return std::nullopt;
    have_all_come = have_all_come && after;
    if (after && waits_for(rank)) longest = std::max(longest, *after);
    last = std::max(last, after.value_or(0));
    first = std::min(first, after.value_or(0));
  }
  const bool was_last = is_awaited_ && have_all_come && last == 0;
  return Wait{static_cast<std::uint64_t>(longest), was_last,
              was_last ? static_cast<std::uint64_t>(-first) : 0};
}

}  // namespace espalier::runtime::statistics
