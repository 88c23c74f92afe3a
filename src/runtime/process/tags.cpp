#include "runtime/process/tags.hpp"

namespace espalier::runtime {

std::optional<int> Tags::take_from(int first) {
  const std::lock_guard lock(mutex_);
  auto block = static_cast<std::size_t>(first);
  while (is_taken(block)) ++block;
  if (block >= blocks_) return std::nullopt;
  mark(block);
  return static_cast<int>(block);
}

std::uint32_t Tags::next_use() {
  const std::lock_guard lock(mutex_);
  return ++uses_;
}

bool Tags::take(int block) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(block);
  if (block < 0 || index >= blocks_ || is_taken(index)) return false;
  mark(index);
  return true;
}

void Tags::give_back(int block) {
  const std::lock_guard lock(mutex_);
  taken_[static_cast<std::size_t>(block)] = false;
}

void Tags::mark(std::size_t block) {
  if (block >= taken_.size()) taken_.resize(block + 1);
  taken_[block] = true;
}

}  // namespace espalier::runtime
