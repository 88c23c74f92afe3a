#include "runtime/levels/remote_operations.hpp"

#include <algorithm>

#include "network/window/request.hpp"

namespace espalier::runtime {

// In pieces that travel in their requests: those are copies, so the source is the caller's again, and what is
// asked for later comes after them.
void RemoteOperations::put(std::size_t offset, const void* source, std::size_t bytes) {
  check_range(offset, bytes);
  const auto* data = static_cast<const std::byte*>(source);
  for (std::size_t begin = 0; begin < bytes; begin += network::longest_inline)
    window_.put(node_, offset_ + offset + begin, data + begin,
                std::min(bytes - begin, network::longest_inline));
}

void RemoteOperations::get(std::size_t offset, void* target, std::size_t bytes) {
  check_range(offset, bytes);
  window_.get(node_, offset_ + offset, target, bytes);
  window_.flush();
}

void RemoteOperations::store(std::size_t offset, std::uint64_t value) {
  check_word(offset);
  window_.store(node_, offset_ + offset, value);
}

std::uint64_t RemoteOperations::fetch_add(std::size_t offset, std::uint64_t value) {
  check_word(offset);
  return window_.fetch_add(node_, offset_ + offset, value);
}

std::uint64_t RemoteOperations::compare_swap(std::size_t offset, std::uint64_t expected,
                                             std::uint64_t desired) {
  check_word(offset);
  return window_.compare_swap(node_, offset_ + offset, expected, desired);
}

// Each look is a message there and one back, in which the rank waits as for any message.
void RemoteOperations::wait_until(std::size_t offset, machine::Until until, std::uint64_t value) {
  check_word(offset);
  while (!machine::is_reached(until, load(offset), value)) look_();
}

}  // namespace espalier::runtime
