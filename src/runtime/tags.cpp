#include "runtime/tags.hpp"

namespace espalier::runtime {

std::optional<int> Tags::take_from(int first) {
  const std::lock_guard lock(mutex_);
  for (auto block = static_cast<std::size_t>(first); block < taken_.size(); ++block) {
    if (taken_[block]) continue;
    taken_[block] = true;
    return static_cast<int>(block);
  }
  return std::nullopt;
}

bool Tags::take(int block) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(block);
  if (block < 0 || index >= taken_.size() || taken_[index]) return false;
  return taken_[index] = true;
}

void Tags::give_back(int block) {
  const std::lock_guard lock(mutex_);
  taken_[static_cast<std::size_t>(block)] = false;
}

}  // namespace espalier::runtime
