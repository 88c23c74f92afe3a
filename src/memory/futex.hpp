// The kernel's help with waiting on a word that processes share.
#pragma once

#include <cstdint>

namespace espalier::memory {

/// Sleeps while the word is `seen`, `microseconds` at most; it may wake for no reason. Where a filter refuses the
/// call, a short sleep. Thread-safe, as futex_wake_all().
void futex_wait(std::uint32_t* word, std::uint32_t seen, std::uint32_t microseconds);
void futex_wake_all(std::uint32_t* word);

}  // namespace espalier::memory
