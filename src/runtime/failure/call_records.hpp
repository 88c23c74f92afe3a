// What a rank's last calls on a communicator were, for the others to read when something is amiss.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/collective.hpp"
#include "machine/fingerprint.hpp"
#include "machine/layout.hpp"

namespace espalier::runtime {

/// A call with its label, which the facts have no room for: every call makes those.
struct RecordedCall : machine::CallFacts {
  std::uint16_t label = 0;  ///< what else the caller compares; 0: nothing
  bool operator==(const RecordedCall&) const = default;
};

/// Written by one rank, read by any; all zero at first. Both words of a record hold the number of its call.
/// So a rank that reads while they are written sees two different numbers.
class CallRecords {
 public:
  static constexpr std::uint64_t kept = 16;

  /// The call but for its label. relaxed: a rank that looks here has seen a flag of that call (acquire), or looks again later.
  void write(std::uint64_t number, const machine::CallFacts& call) {
    Record& record = records_[number % kept];
    record.what.store(number << number_shift |
                          static_cast<std::uint64_t>(call.collective) << collective_shift |
                          static_cast<std::uint64_t>(call.operation) << root_bits |
                          (static_cast<std::uint64_t>(call.root) & most_root),
                      std::memory_order_relaxed);
    record.bytes.store(number << byte_bits | (call.bytes & most_bytes), std::memory_order_relaxed);
  }

  /// A rank that has labelled one call labels all that follow, or its records had the labels of former calls. relaxed: as write().
  void write_label(std::uint64_t number, std::uint16_t label) {
    labels_[number % kept].store(turn_of(number) | label, std::memory_order_relaxed);
  }

  /// The rank's block in that call, which it has just written, is so long. Other ranks need not name that.
  void note_block(std::uint64_t number, std::uint64_t bytes) {
    records_[number % kept].bytes.store(number << byte_bits | (bytes & most_bytes),
                                        std::memory_order_relaxed);
  }

  /// Two lengths in the place of one; those of 16 MiB and more only say that they are.
  static std::uint64_t both(const machine::PairLengths& lengths) {
    if ((lengths.out | lengths.in) <= most_of_pair) [[likely]]
      return lengths.out | lengths.in << pair_bits;
    return std::min(lengths.out, most_of_pair) | std::min(lengths.in, most_of_pair) << pair_bits;
  }
  static machine::PairLengths lengths_in(std::uint64_t both) {
    return {both & most_of_pair, both >> pair_bits};
  }

  /// Whether the rank has begun the call of that number.
  bool has_come_to(std::uint64_t number) const {
    const std::uint64_t what = records_[number % kept].what.load(std::memory_order_relaxed);
    return static_cast<std::int64_t>(what - (number << number_shift)) >> number_shift >= 0;
  }

  /// The call of that number, if it is still kept.
  std::optional<RecordedCall> find(std::uint64_t number) const {
    const Record& record = records_[number % kept];
    const std::uint64_t what = record.what.load(std::memory_order_relaxed);
    const std::uint64_t bytes = record.bytes.load(std::memory_order_relaxed);
    const std::uint16_t label = labels_[number % kept].load(std::memory_order_relaxed);
    if (label != 0 && (label & ~machine::most_label) != turn_of(number)) return std::nullopt;
    if ((what ^ number << number_shift) >> number_shift != 0 ||
        (bytes ^ number << byte_bits) >> byte_bits != 0)
      return std::nullopt;
    const std::uint64_t collective = what >> collective_shift & most_collective;
    if (collective >= std::uint64_t{collective_count}) return std::nullopt;  // another rank has spoilt it
    return RecordedCall{
        {static_cast<Collective>(collective), static_cast<int>(what & most_root), bytes & most_bytes,
         static_cast<reduce::OperationCode>(what >> root_bits & reduce::user_operation)},
        static_cast<std::uint16_t>(label & machine::most_label)};
  }

  /// The rank has begun a nonblocking collective on the communicator, which are recorded elsewhere. release: a rank that sees it
  /// sees the calls before it.
  void add_nonblocking(Collective collective) {
    const std::uint64_t count = (nonblocking_.load(std::memory_order_relaxed) >> nonblocking_shift) + 1;
    nonblocking_.store(count << nonblocking_shift | static_cast<std::uint64_t>(collective),
                       std::memory_order_release);
  }
  /// How many, and which was the last one.
  struct NonblockingCalls {
    std::uint64_t count;
    Collective last;
  };
  NonblockingCalls nonblocking() const {
    const std::uint64_t said = nonblocking_.load(std::memory_order_acquire);
    const std::uint64_t last = said & ((std::uint64_t{1} << nonblocking_shift) - 1);
    return {said >> nonblocking_shift,
            static_cast<Collective>(std::min(last, std::uint64_t{collective_count} - 1))};
  }

  /// The rank makes no more calls. Release and acquire: a rank that sees it sees all its calls.
  void leave() { left_.store(1, std::memory_order_release); }
  /// The ranks begin again together: no rank looks here meanwhile.
  void come_back() { left_.store(0, std::memory_order_relaxed); }
  bool has_left() const { return left_.load(std::memory_order_acquire) != 0; }

 private:
  // Numbers are kept in 24 bits beside collective, operation and root, and in 16 beside the bytes.
  static constexpr int pair_bits = 24, root_bits = 24,
                       collective_shift = root_bits + reduce::operation_code_bits, collective_bits = 6,
                       number_shift = collective_shift + collective_bits, byte_bits = 48;
  static constexpr std::uint64_t most_of_pair = (std::uint64_t{1} << pair_bits) - 1;
  static constexpr std::uint64_t most_root = (std::uint64_t{1} << root_bits) - 1,
                                 most_collective = (std::uint64_t{1} << collective_bits) - 1,
                                 most_bytes = (std::uint64_t{1} << byte_bits) - 1;
  static_assert(collective_count <= most_collective + 1);
  /// Beside a label: which use of its record this is, modulo 64.
  static constexpr std::uint16_t turn_of(std::uint64_t number) {
    return static_cast<std::uint16_t>(number / kept << machine::label_bits);
  }
  struct Record {
    std::atomic<std::uint64_t> what, bytes;  // `what`: collective, operation and root
  };
  std::array<Record, kept> records_;
  std::atomic<std::uint64_t> left_;
  std::array<std::atomic<std::uint16_t>, kept> labels_;  // 0: a call without one
  static constexpr int nonblocking_shift = 8;
  std::atomic<std::uint64_t> nonblocking_;  // their number and, below, the last one's collective
};

static_assert(sizeof(CallRecords) <= machine::Layout::calls_bytes - machine::Layout::line_bytes);

}  // namespace espalier::runtime
