// How the tags of a transport are divided: the low ones tell communicators and their lanes apart, and above
// them there is room for a mark of the call, where a host has that many.
#pragma once

#include <cstdint>

namespace espalier::network {

struct TagMarks {
  int bits = 0;  ///< of a mark; 0: there is no room for one

  /// Communicators share the lowest 2^18 tags, which is 16,384 of them at once: MPICH, Intel MPI and Open MPI
  /// have 2^28 tags or more. A mark of less than 4 bits would miss too much to be worth anything.
  static constexpr int low_bits = 18, fewest_bits = 4, most_bits = 12;

  static constexpr TagMarks among(int tags) {
    int bits = 0;
    while (bits < most_bits && std::int64_t{1} << (low_bits + bits + 1) <= tags) ++bits;
    return bits < fewest_bits ? TagMarks{} : TagMarks{bits};
  }
  /// How many tags are left below the marks.
  constexpr int below(int tags) const { return bits == 0 ? tags : 1 << low_bits; }
  /// What a tag has besides, for a call of which `hash` is known.
  constexpr int of(std::uint32_t hash) const {
    return static_cast<int>((hash & ((std::uint32_t{1} << bits) - 1)) << low_bits);
  }
};

}  // namespace espalier::network
