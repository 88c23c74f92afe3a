// Makes frames, and judges those that come.
#include "capi/meeting/frames.hpp"

#include <cstring>

namespace espalier::capi {

GreetingKind kind_of(const Greeting& greeting, int size) {
  if (greeting.magic != greeting_magic) return GreetingKind::garbage;
  const bool fits = greeting.size == size && greeting.rank > 0 && greeting.rank < size;
  return fits ? GreetingKind::valid : GreetingKind::misfit;
}

FailureFrame failure_of(int code, const std::string& text) {
  FailureFrame failure{{failure_frame, sizeof(FailureFrame) - sizeof(FrameHead)}, code, {}};
  text.copy(failure.text, sizeof failure.text - 1);
  return failure;
}

std::string text_of(const FailureFrame& failure) {
  return std::string(failure.text, strnlen(failure.text, sizeof failure.text));
}

}  // namespace espalier::capi
