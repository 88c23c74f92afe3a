// When the ranks of a communicator came to a call: what of a call is waiting for the last of them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/collective.hpp"
#include "machine/layout.hpp"

namespace espalier::runtime::statistics {

/// A rank's line: when it came to its last two calls that no rank leaves before all have come. Written by it,
/// read by the others; all zero at first.
struct alignas(machine::Layout::line_bytes) Stamps {
  struct Stamp {
    std::atomic<std::uint64_t> call, ticks;
  };
  std::array<Stamp, 2> of;
};
static_assert(sizeof(Stamps) == machine::Layout::line_bytes);

/// One rank's part; used by one thread at a time, as its communicator. The processor's time stamps are the
/// same on all cores (base/ticks.hpp takes another clock where they are not).
class Arrivals {
 public:
  /// `share`: what `layout` is of. Does nothing unless ESPALIER_STATS_ARRIVALS is on.
  Arrivals(std::byte* share, const machine::Layout& layout, int rank);

  /// A call of which no rank knows the result before all have come. Not those in which blocks may be empty.
  static constexpr bool waits_for_all(Collective collective, std::size_t bytes) {
    const CollectiveTraits& facts = traits(collective);
    if (facts.has_root || facts.is_scan || facts.has_v_form) return false;
    return collective == Collective::barrier || bytes > 0;
  }

  bool is_on() const { return share_ != nullptr; }

  /// This rank comes to the next such call. Before it publishes anything of it.
  void come(std::uint64_t now) {
    Stamps::Stamp& own = stamps(rank_).of[++call_ % 2];
    // relaxed: the others read it after they have seen, by an acquire, what this rank publishes later.
    own.ticks.store(now, std::memory_order_relaxed);
    own.call.store(call_, std::memory_order_relaxed);
  }

  struct Wait {
    std::uint64_t ticks;  ///< from this rank's arrival to the last one's
    bool was_last;
  };
  /// Of the call that this rank is about to leave. None: a rank counts no arrivals. No rank comes to the
  /// call after the next one, and so writes here again, before this rank has come to the next one.
  std::optional<Wait> waited() const;

 private:
  Stamps& stamps(int rank) const { return *reinterpret_cast<Stamps*>(share_ + layout_.stamps(rank)); }

  std::byte* share_ = nullptr;
  machine::Layout layout_;
  int rank_;
  std::uint64_t call_ = 0;
};

}  // namespace espalier::runtime::statistics
