// What ranks agree on by a word that they share: the first one to come decides.
#pragma once

#include <cstdint>

#include "memory/flag_line.hpp"

namespace espalier::machine {

/// The word says in which turn of its use the value was said. All ranks have taken part in a turn before any
/// of them comes to the next one.
struct Agreed {
  static constexpr int value_bits = 40;
  /// No value: a rank is making what it will say.
  static constexpr std::uint64_t claimed = (std::uint64_t{1} << value_bits) - 1;

  std::uint64_t value;
  bool by_this_rank;

  static memory::Step word(memory::Step turn, std::uint64_t value) {
    return mark(turn) << value_bits | value;
  }
  static bool is_of(memory::Step word, memory::Step turn) { return word >> value_bits == mark(turn); }
  static bool is_said(memory::Step word, memory::Step turn) {
    return is_of(word, turn) && value_in(word) != claimed;
  }
  static std::uint64_t value_in(memory::Step word) { return word & claimed; }

 private:
  /// Never 0, which a clear line says.
  static memory::Step mark(memory::Step turn) {
    return turn % ((memory::Step{1} << (64 - value_bits)) - 1) + 1;
  }
};

}  // namespace espalier::machine
