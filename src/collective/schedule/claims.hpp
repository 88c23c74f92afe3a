// Which of a node's ranks does something for all of them: the first that comes.
#pragma once

#include <atomic>
#include <cstdint>

namespace espalier::collective {

/// Whether this rank is the first that comes to `number`: 1, 2, ..., which every rank goes through in order. `claimed`:
/// the last number that was claimed, in memory that the ranks share. Orders nothing.
template <class Platform>
bool claim_number(std::uint64_t& claimed, std::uint64_t number) {
  // relaxed, both: what the claim is for the ranks have told each other before.
  std::uint64_t before = number - 1;
  return typename Platform::template AtomicRef<std::uint64_t>(claimed).compare_exchange_strong(
      before, number, std::memory_order_relaxed, std::memory_order_relaxed);
}

}  // namespace espalier::collective
