// What the ranks of a meeting send each other. Both ends compare each field with what they know themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier::capi {

/// What a rank says when it comes.
struct Greeting {
  std::uint32_t magic;
  std::int32_t rank;
  std::int32_t size;
};
inline constexpr std::uint32_t greeting_magic = 0x6d656574;

enum class GreetingKind {
  valid,
  misfit,  ///< of a rank of another size, or of none
  garbage  ///< of something that is no rank
};
GreetingKind kind_of(const Greeting& greeting, int size);

/// Stands before the bytes of one step.
struct FrameHead {
  std::uint32_t kind;
  std::uint32_t bytes;
};
inline constexpr std::uint32_t data_frame = 0x64617461;
inline constexpr std::uint32_t failure_frame = 0x6661696c;

/// Rank 0's last frame, where the meeting has failed: how, for all.
struct FailureFrame {
  FrameHead head;
  std::int32_t code;
  char text[500];
};
FailureFrame failure_of(int code, const std::string& text);

/// Of a frame whose head has come: whether it is this failure, as a whole.
inline bool is_failure(const FrameHead& head) {
  return head.kind == failure_frame && head.bytes == sizeof(FailureFrame) - sizeof(FrameHead);
}
std::string text_of(const FailureFrame& failure);

}  // namespace espalier::capi
