// A rank's last calls on a communicator over several nodes, as they go in a message to a rank that compares
// them with its own. Ranks that share memory read each other's records instead (call_records.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "machine/fingerprint.hpp"
#include "runtime/failure/call_text.hpp"

namespace espalier::runtime {

/// A call's facts without padding.
struct PackedCall {
  std::uint64_t bytes;
  std::int32_t root;
  std::uint16_t operation, collective;
};

/// Trivially copyable and without padding: it is sent as it is.
template <std::uint64_t kept>
class RecentCalls {
 public:
  RecentCalls() = default;
  /// The last of more.
  template <std::uint64_t more>
  explicit RecentCalls(const RecentCalls<more>& others) : history_(others.history_) {
    static_assert(more > kept);
    for (std::uint64_t each = first_kept(); each <= number(); ++each)
      calls_[each % kept] = others.calls_[each % more];
  }

  /// The next call.
  void add(const machine::CallFacts& call) {
    history_.add(call);
    calls_[number() % kept] = {call.bytes, call.root, call.operation,
                               static_cast<std::uint16_t>(call.collective)};
  }
  std::uint64_t number() const { return history_.number(); }
  /// Depends on all calls so far.
  machine::Fingerprint fingerprint() const { return history_.fingerprint(); }

  /// The first of those calls that are kept of both.
  template <std::uint64_t of_theirs>
  std::optional<CallDifference> first_difference(const RecentCalls<of_theirs>& theirs) const {
    const std::uint64_t last = std::min(number(), theirs.number());
    for (std::uint64_t each = std::max(first_kept(), theirs.first_kept()); each <= last; ++each)
      if (facts(each) != theirs.facts(each))
        return CallDifference{number() - each, {facts(each)}, {theirs.facts(each)}};
    return std::nullopt;
  }

  /// Whether it is one: what has come in a message may be anything.
  bool is_valid() const {
    return std::all_of(calls_.begin(), calls_.end(), [](const PackedCall& each) {
      return each.collective < std::uint16_t{collective_count} && each.operation <= reduce::user_operation;
    });
  }

 private:
  template <std::uint64_t>
  friend class RecentCalls;
  std::uint64_t first_kept() const { return number() < kept ? 1 : number() - kept + 1; }
  machine::CallFacts facts(std::uint64_t number) const {
    const PackedCall& call = calls_[number % kept];
    return {static_cast<Collective>(call.collective), call.root, call.bytes, call.operation};
  }

  machine::CallHistory history_;
  std::array<PackedCall, kept> calls_{};
};

/// What a rank keeps: one that only sends may be far ahead of those that wait for it.
using OwnCalls = RecentCalls<256>;
/// What goes in a message.
using SentCalls = RecentCalls<16>;
static_assert(std::is_trivially_copyable_v<SentCalls>);

}  // namespace espalier::runtime
