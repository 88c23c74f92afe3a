// What a rank's last calls on a communicator were, for the others to read when something is amiss.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "machine/fingerprint.hpp"
#include "machine/layout.hpp"

namespace espalier::runtime {

/// Written by one rank, read by any; all zero at first. A record is two words that both say which call they
/// belong to, so that whoever reads while it is written finds that they do not fit.
class CallRecords {
 public:
  static constexpr std::uint64_t kept = 16;

  /// relaxed: a rank that looks here has seen a flag of that call (acquire), or looks again later.
  void write(std::uint64_t number, const machine::CallFacts& call) {
    Record& record = records_[number % kept];
    record.what.store(number << 40 | static_cast<std::uint64_t>(call.collective) << 32 |
                          static_cast<std::uint32_t>(call.root),
                      std::memory_order_relaxed);
    record.bytes.store(number << byte_bits | (call.bytes & most_bytes), std::memory_order_relaxed);
  }

  /// Whether the rank has begun the call of that number.
  bool has_come_to(std::uint64_t number) const {
    const std::uint64_t theirs = records_[number % kept].what.load(std::memory_order_relaxed) >> 40;
    return static_cast<std::int32_t>((theirs - number) << 8) >= 0;  // in 24 bits, around which they go
  }
  /// The call of that number, if it is still kept.
  std::optional<machine::CallFacts> find(std::uint64_t number) const {
    const Record& record = records_[number % kept];
    const std::uint64_t what = record.what.load(std::memory_order_relaxed);
    const std::uint64_t bytes = record.bytes.load(std::memory_order_relaxed);
    if ((what ^ number << 40) >> 40 != 0 || (bytes ^ number << byte_bits) >> byte_bits != 0)
      return std::nullopt;
    return machine::CallFacts{static_cast<Collective>(what >> 32 & 0xff),
                              static_cast<int>(static_cast<std::uint32_t>(what)), bytes & most_bytes};
  }

  /// The rank makes no more calls. Release and acquire: whoever sees it sees all its calls.
  void leave() { left_.store(1, std::memory_order_release); }
  bool has_left() const { return left_.load(std::memory_order_acquire) != 0; }

 private:
  static constexpr int byte_bits = 48;
  static constexpr std::uint64_t most_bytes = (std::uint64_t{1} << byte_bits) - 1;
  struct Record {
    std::atomic<std::uint64_t> what, bytes;
  };
  std::array<Record, kept> records_;
  std::atomic<std::uint64_t> left_;
};

static_assert(sizeof(CallRecords) <= machine::Layout::calls_bytes);

}  // namespace espalier::runtime
