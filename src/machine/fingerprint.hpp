// What a rank's flag lines say of the call that it is in, so that ranks in different calls find out (DESIGN,
// invariant 6).
#pragma once

#include <cstdint>

#include "base/collective.hpp"
#include "reduce/operation.hpp"

namespace espalier::machine {

/// Which call of the communicator a rank is in, modulo 4096, and 20 bits that depend on all its calls so far.
/// 0: no rank has said.
using Fingerprint = std::uint32_t;

/// What all ranks of a call have to agree on.
struct CallFacts {
  Collective collective = Collective::barrier;
  int root = 0;             ///< 0 where there is none
  std::uint64_t bytes = 0;  ///< by which rules choose: equal on all ranks
  reduce::OperationCode operation = reduce::no_operation;
  bool operator==(const CallFacts&) const = default;
};

inline constexpr int call_hash_bits = 20;
inline constexpr int label_bits = 10, most_label = (1 << label_bits) - 1;

/// Whether both are of the communicator's n-th call, modulo 4096. Flags that are ahead belong to later calls.
constexpr bool of_one_call(Fingerprint a, Fingerprint b) { return (a ^ b) >> call_hash_bits == 0; }

/// What a flag line that announces a block adds to its fingerprint (exclusive or): how long the block is. Where only
/// two ranks know that, its reader finds a difference so, on the line that it reads anyhow. Blocks of less than a
/// MiB have a mark each, which is their length.
constexpr Fingerprint length_mark(std::uint64_t bytes) {
  constexpr std::uint64_t all = (std::uint64_t{1} << call_hash_bits) - 1;
  return static_cast<Fingerprint>((bytes ^ bytes >> call_hash_bits ^ bytes >> 2 * call_hash_bits) & all);
}

/// What a rank of two sends to the other, and what it expects from it.
struct PairLengths {
  std::uint64_t out, in;
  bool operator==(const PairLengths&) const = default;
};
/// Fractions of the golden ratio and of the root of 2: of two pairs that differ in one length, by less than 256 KiB, the
/// marks differ.
constexpr Fingerprint length_mark(const PairLengths& both) {
  return static_cast<Fingerprint>((both.out * 0x9E3779B97F4A7C15u + both.in * 0x6A09E667F3BCC909u) >>
                                  (64 - call_hash_bits));
}

/// A rank's calls on one communicator, one after the other. A difference once made stays: calls after which
/// no rank has looked at another's flags (two ranks that both think they are the root) show in later ones.
class CallHistory {
 public:
  /// The next call, but for its label.
  void add(const CallFacts& call) {
    ++number_;
    const std::uint64_t word =
        call.bytes ^ static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32 ^
        static_cast<std::uint64_t>(call.operation) << 44 ^ static_cast<std::uint64_t>(call.collective) << 56;
    hash_ = (hash_ + word) * 0x9E3779B97F4A7C15u;  // odd: different before, different after
  }
  /// Of the call that was added last.
  void add_label(std::uint16_t label) { hash_ = (hash_ + label) * 0x9E3779B97F4A7C15u; }
  /// Nothing moves in the call that has been added last.
  void add_nothing() { hash_ = (hash_ + 1) * 0x9E3779B97F4A7C15u; }
  std::uint64_t number() const { return number_; }
  Fingerprint fingerprint() const {
    return static_cast<Fingerprint>(number_) << call_hash_bits |
           static_cast<Fingerprint>(hash_ >> (64 - call_hash_bits));
  }

 private:
  std::uint64_t number_ = 0, hash_ = 0;
};

}  // namespace espalier::machine
