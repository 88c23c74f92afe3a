// To whom a slot is exposed: lists that last as long as the machine, because a slot refers to its list of
// readers.
#pragma once

#include "machine/concept.hpp"

namespace espalier::collective {

/// The ranks from `first` to `last` without this one.
template <machine::KnowsRanks M>
std::span<const int> readers(const M& m, int first, int last) {
  const std::span<const int> others = m.other_ranks();
  const auto place = [&](int rank) { return static_cast<std::size_t>(rank > m.rank() ? rank - 1 : rank); };
  const std::size_t begin = place(first);
  const std::size_t end = last == m.rank() ? place(last) : place(last) + 1;
  return others.subspan(begin, end - begin);
}

}  // namespace espalier::collective
