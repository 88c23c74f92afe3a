// What ranks send, and what must come out.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/engine/call.hpp"

namespace espalier::measure {

using Words = std::vector<std::uint64_t>;

inline std::uint64_t value(int rank, std::size_t element, int call) {
  return static_cast<std::uint64_t>(rank + 1) * 1000003 + element * 31 +
         static_cast<std::uint64_t>(call) * 131;
}

/// Of the ranks from the first to (without) `last`.
inline std::uint64_t sum_of(int last, std::size_t element, int call) {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < last; ++rank) sum += value(rank, element, call);
  return sum;
}

/// The number of elements from the first on that a rank must have received, and whether all are right.
/// Elements are `count` for each block.
inline bool is_right(const simulation::Call& call, int ranks, int rank, std::size_t count, const Words& got,
                     int number) {
  const auto all = [&](std::size_t elements, auto wanted) {
    for (std::size_t i = 0; i < elements; ++i)
      if (got[i] != wanted(i)) return false;
    return true;
  };
  switch (call.collective) {
    case Collective::bcast:
      return all(count, [&](std::size_t i) { return value(0, i, number); });
    case Collective::reduce:
      return rank != 0 || all(count, [&](std::size_t i) { return sum_of(ranks, i, number); });
    case Collective::allreduce:
      return all(count, [&](std::size_t i) { return sum_of(ranks, i, number); });
    case Collective::scan:
      return all(count, [&](std::size_t i) { return sum_of(rank + 1, i, number); });
    case Collective::exscan:
      return rank == 0 || all(count, [&](std::size_t i) { return sum_of(rank, i, number); });
    case Collective::gather:
    case Collective::allgather:
      return (call.collective == Collective::gather && rank != 0) ||
             all(count * static_cast<std::size_t>(ranks),
                 [&](std::size_t i) { return value(static_cast<int>(i / count), i % count, number); });
    case Collective::scatter:
      return all(count,
                 [&](std::size_t i) { return value(0, static_cast<std::size_t>(rank) * count + i, number); });
    case Collective::alltoall:
      return all(count * static_cast<std::size_t>(ranks), [&](std::size_t i) {
        return value(static_cast<int>(i / count), static_cast<std::size_t>(rank) * count + i % count, number);
      });
    default:
      return true;
  }
}

}  // namespace espalier::measure
