// When the ranks of a communicator came to a call: what of a call is waiting for the last of those that a rank
// waits for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/collective.hpp"
#include "machine/layout.hpp"

namespace espalier::runtime::statistics {

/// A rank's line: when it came to its last calls that are counted. Written by it, read by the others; all zero
/// at first. A stamp is one word, so that no rank reads the half of one: the call's number, modulo 2^16, in front of
/// the low bits of the clock, which outlast a day.
struct alignas(machine::Layout::line_bytes) Stamps {
  static constexpr std::size_t kept = machine::Layout::line_bytes / sizeof(std::uint64_t);
  std::array<std::atomic<std::uint64_t>, kept> of;
};
static_assert(sizeof(Stamps) == machine::Layout::line_bytes);

/// One rank's part; used by one thread at a time, as its communicator. The processor's time stamps are the
/// same on all cores (base/ticks.hpp takes another clock where they are not).
class Arrivals {
 public:
  /// `share`: what `layout` is of. Does nothing unless ESPALIER_STATS_ARRIVALS is on.
  Arrivals(std::byte* share, const machine::Layout& layout, int rank);

  /// Whether it is known for whom a rank waits in such a call: not where blocks may be empty.
  static constexpr bool can_count(Collective collective, std::size_t bytes) {
    return collective == Collective::barrier || (bytes > 0 && !traits(collective).has_v_form);
  }

  bool is_on() const { return share_ != nullptr; }

  /// What this rank's next come() is for. A rank waits for all others; in a bcast or scatter for the root; in a
  /// reduce or gather the root for all, the others for none; in a scan for those below.
  void expect(Collective collective, std::size_t bytes, int root);
  std::size_t bytes() const { return bytes_; }
  /// This rank comes to the call. Before it publishes anything of it.
  void come(std::uint64_t now) {
    // relaxed: the others read it after they have seen, by an acquire, what this rank publishes later.
    ++call_;
    stamps(rank_).of[call_ % Stamps::kept].store(word(call_, now), std::memory_order_relaxed);
  }

  struct Wait {
    std::uint64_t ticks;  ///< from this rank's arrival to that of the last one for which it waits
    bool was_last;        ///< of all, and others wait for it
    /// From the first rank's arrival to that of this one, if it was the last.
    std::uint64_t spread;
  };
  /// Of the call that this rank is about to leave. None: a rank counts no arrivals. One that has come to
  /// `kept` more calls since then counts as one that came first.
  std::optional<Wait> waited() const;

 private:
  static constexpr int clock_bits = 48;
  static std::uint64_t word(std::uint64_t call, std::uint64_t now) {
    return call << clock_bits | (now & ((std::uint64_t{1} << clock_bits) - 1));
  }
  Stamps& stamps(int rank) const { return *reinterpret_cast<Stamps*>(share_ + layout_.stamps(rank)); }
  /// How much later that rank came, in ticks; 0 where it has gone on long since; none: it has not come.
  std::optional<std::int64_t> after_this_rank(int rank) const;
  bool waits_for(int rank) const { return rank >= first_awaited_ && rank < end_awaited_; }

  std::byte* share_ = nullptr;
  machine::Layout layout_;
  int rank_;
  std::uint64_t call_ = 0;
  std::size_t bytes_ = 0;
  int first_awaited_ = 0, end_awaited_ = layout_.ranks;  ///< ranks for which this one waits
  bool is_awaited_ = true;
};

}  // namespace espalier::runtime::statistics
