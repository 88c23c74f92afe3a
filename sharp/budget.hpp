// How many bytes may be held for all peers together.
#pragma once

#include <cstddef>

namespace espalier::sharp {

/// Used by one thread.
class Budget {
 public:
  explicit Budget(std::size_t most) : most_(most) {}
  void take(std::size_t bytes) { held_ += bytes; }
  void give(std::size_t bytes) { held_ -= bytes; }
  bool has(std::size_t bytes) const { return bytes <= most_ && held_ <= most_ - bytes; }
  bool is_exceeded() const { return held_ > most_; }
  std::size_t held() const { return held_; }

 private:
  std::size_t most_, held_ = 0;
};

}  // namespace espalier::sharp
