// The line on which ranks signal each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace espalier::memory {

/// A position in the life of a communicator: every chunk of every collective takes one step, the same on all
/// ranks.
using Step = std::uint64_t;

/// What is read together lies together: the flag and, for small data, the data itself (RG III-D). 128 bytes,
/// because processors fetch cache lines in pairs; the flag shares its 64 bytes with the first 48 of the
/// payload.
struct alignas(128) FlagLine {
  /// Written by the line's owner with release once everything it announces is written; read by waiters with
  /// acquire.
  std::atomic<Step> step;
  /// How many waiters sleep or are about to: a writer pays for waking only then, see machine/wait.hpp.
  std::atomic<std::uint32_t> sleepers;
  /// Of the call in which the owner wrote the step (machine/fingerprint.hpp), written before it.
  std::atomic<std::uint32_t> fingerprint;
  std::byte payload[112];
};

inline constexpr std::size_t inline_capacity = sizeof(FlagLine::payload);

static_assert(sizeof(FlagLine) == 128);
static_assert(std::atomic<Step>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
              "flags are shared between processes, so they must not hide a lock");

}  // namespace espalier::memory
