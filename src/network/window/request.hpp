// What one rank asks of another in a message: an active message.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::network {

enum class Kind : std::uint32_t { put, get, store, fetch_add, compare_swap, goodbye };

/// Plain bytes: it crosses the network, between machines of one kind. The data of a short put follow behind
/// it in the same message; those of a long one in messages of their own.
struct Request {
  Kind kind = Kind::put;
  std::int32_t id = 0;
  std::uint32_t value = 0;        ///< of the notification; 0: none
  std::uint32_t data_follow = 0;  ///< in messages of their own
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t operand = 0;   ///< what is stored, added, or swapped in
  std::uint64_t expected = 0;  ///< of a compare_swap
};

/// So much data travel in the request itself: one message instead of two is worth a copy on both sides, and
/// most hosts send as much without asking the receiver first.
inline constexpr std::size_t longest_inline = 8192 - sizeof(Request);

/// The lanes of a window among its tags.
inline constexpr int request_lane = 0, data_lane = 1, reply_lane = 2;

}  // namespace espalier::network
