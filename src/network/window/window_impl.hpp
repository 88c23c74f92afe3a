// What a window does for its rank: the members of BasicNodeWindow. Included by those who instantiate it for a
// platform.
#pragma once

#include "base/format.hpp"
#include "network/window/window.hpp"

namespace espalier::network {

template <class Platform>
BasicNodeWindow<Platform>::BasicNodeWindow(WindowTeam team, const Memory& memory, Waiting waiting)
    : team_(std::move(team)), memory_(memory), waiting_(std::move(waiting)), polls_(waiting_.spin_limits) {}

template <class Platform>
void BasicNodeWindow<Platform>::check_range(int node, std::size_t offset, std::size_t bytes) const {
  if (node < 0 || node >= nodes())
    throw WindowArgument(formatted("a window's node {}: its nodes are 0 to {}", node, nodes() - 1));
  if (offset > memory_.bytes || bytes > memory_.bytes - offset)
    throw WindowArgument(formatted("{} bytes at offset {} of a window leave its segments of {} bytes", bytes,
                                   offset, memory_.bytes));
}

template <class Platform>
void BasicNodeWindow<Platform>::check_word(int node, std::size_t offset) const {
  check_range(node, offset, sizeof(std::uint64_t));
  if (offset % sizeof(std::uint64_t) != 0)
    throw WindowArgument(
        formatted("an atomic operation at offset {} of a window: it needs a multiple of 8", offset));
}

template <class Platform>
void BasicNodeWindow<Platform>::check_ids(int first, int count) const {
  if (first < 0 || count < 1 || first > ids() - count)
    throw WindowArgument(formatted("notifications {} to {} of a window: its ids are 0 to {}", first,
                                   std::int64_t{first} + count - 1, ids() - 1));
}

template <class Platform>
void BasicNodeWindow<Platform>::check_failure() {
  // relaxed: the mutex orders the exception itself.
  if (!failed_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  std::rethrow_exception(failure_);
}

template <class Platform>
void BasicNodeWindow<Platform>::put(int node, std::size_t offset, const void* source, std::size_t bytes) {
  check_range(node, offset, bytes);
  start_put(node, offset, source, bytes, 0, 0);
}

template <class Platform>
void BasicNodeWindow<Platform>::put_notify(int node, std::size_t offset, const void* source,
                                           std::size_t bytes, int id, std::uint32_t value) {
  check_range(node, offset, bytes);
  check_ids(id, 1);
  if (value == 0)
    throw WindowArgument(
        formatted("notification {} with the value 0, which stands for \"nothing has come\"", id));
  start_put(node, offset, source, bytes, id, value);
}

template <class Platform>
void BasicNodeWindow<Platform>::start_put(int node, std::size_t offset, const void* source, std::size_t bytes,
                                          int id, std::uint32_t value) {
  if (is_here(node)) {
    memory_.write(offset, source, bytes);
    if (value != 0) memory_.notifications.set(id, value);
    return;
  }
  check_failure();
  const std::lock_guard lock(mutex_);
  carrier_->put(node, offset, source, bytes, id, value);
}

template <class Platform>
void BasicNodeWindow<Platform>::get(int node, std::size_t offset, void* target, std::size_t bytes) {
  check_range(node, offset, bytes);
  if (is_here(node)) return memory_.read(offset, target, bytes);
  if (bytes == 0) return;
  check_failure();
  const std::lock_guard lock(mutex_);
  carrier_->get(node, offset, target, bytes);
}

template <class Platform>
void BasicNodeWindow<Platform>::store(int node, std::size_t offset, std::uint64_t value) {
  check_word(node, offset);
  if (is_here(node)) return memory_.store(offset, value);
  check_failure();
  const std::lock_guard lock(mutex_);
  carrier_->store(node, offset, value);
}

template <class Platform>
std::uint64_t BasicNodeWindow<Platform>::fetch_add(int node, std::size_t offset, std::uint64_t value) {
  check_word(node, offset);
  if (is_here(node)) return memory_.fetch_add(offset, value);
  return ask_for_word([&](std::uint64_t* old) { carrier_->fetch_add(node, offset, value, old); });
}

template <class Platform>
std::uint64_t BasicNodeWindow<Platform>::compare_swap(int node, std::size_t offset, std::uint64_t expected,
                                                      std::uint64_t desired) {
  check_word(node, offset);
  if (is_here(node)) return memory_.compare_swap(offset, expected, desired);
  return ask_for_word(
      [&](std::uint64_t* old) { carrier_->compare_swap(node, offset, expected, desired, old); });
}

template <class Platform>
template <class Start>
std::uint64_t BasicNodeWindow<Platform>::ask_for_word(Start start) {
  check_failure();
  std::uint64_t old = 0;
  {
    const std::lock_guard lock(mutex_);
    start(&old);
  }
  flush();
  return old;
}

template <class Platform>
void BasicNodeWindow<Platform>::flush() {
  if (!carrier_) return;
  drive_until([this] {
    const std::lock_guard lock(mutex_);
    return carrier_->settled();
  });
}

template <class Platform>
bool BasicNodeWindow<Platform>::flush_for(std::chrono::milliseconds limit) {
  if (!carrier_) return true;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  bool settled = false;
  drive_until([&] {
    {
      const std::lock_guard lock(mutex_);
      settled = carrier_->settled();
    }
    return settled || Clock::now() - begin >= limit;
  });
  note_poll(settled);
  return settled;
}

template <class Platform>
std::uint32_t BasicNodeWindow<Platform>::test(int id) {
  check_ids(id, 1);
  return poll([&] { return memory_.notifications.test(id); });
}

template <class Platform>
std::uint32_t BasicNodeWindow<Platform>::reset(int id) {
  check_ids(id, 1);
  return poll([&] { return memory_.notifications.reset(id); });
}

template <class Platform>
int BasicNodeWindow<Platform>::wait_some(int first, int count) {
  check_ids(first, count);
  int found = -1;
  drive_until([&] { return (found = memory_.notifications.find(first, count)) >= 0; });
  return found;
}

template <class Platform>
int BasicNodeWindow<Platform>::wait_some_for(int first, int count, std::chrono::milliseconds limit) {
  check_ids(first, count);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  int found = -1;
  drive_until([&] {
    found = memory_.notifications.find(first, count);
    return found >= 0 || Clock::now() - begin >= limit;
  });
  // With no time at all it drives once, since a program may poll with it.
  if (found < 0 && drive()) found = memory_.notifications.find(first, count);
  note_poll(found >= 0);
  return found;
}

/// What look() gives, 0 for nothing: it drives, since a program may poll with it.
template <class Platform>
template <class Look>
std::uint32_t BasicNodeWindow<Platform>::poll(Look look) {
  std::uint32_t value = look();
  if (value == 0 && drive()) value = look();
  note_poll(value != 0);
  return value;
}

template <class Platform>
void BasicNodeWindow<Platform>::note_poll(bool found) {
  found ? polls_.begin_anew() : polls_.pass_poll();
}

template <class Platform>
bool BasicNodeWindow<Platform>::drive() {
  check_failure();
  if (!carrier_) return false;
  const std::lock_guard lock(mutex_);
  return carrier_->drive();
}

template <class Platform>
void BasicNodeWindow<Platform>::drive_aside() noexcept {
  if (failed_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !carrier_) return;
  try {
    carrier_->drive();
  } catch (...) {
    failure_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
  }
}

template <class Platform>
void BasicNodeWindow<Platform>::drain() {
  if (!carrier_) return;
  drive_until([this] {
    const std::lock_guard lock(mutex_);
    return carrier_->has_left();
  });
  const std::lock_guard lock(mutex_);  // other threads may be driving
  carrier_.reset();
}

template <class Platform>
void BasicNodeWindow<Platform>::close() {
  if (!carrier_) return;
  {
    const std::lock_guard lock(mutex_);
    carrier_->say_goodbye();
  }
  drive_until([this] {
    const std::lock_guard lock(mutex_);
    return carrier_->at_rest();
  });
  const std::lock_guard lock(mutex_);  // other threads may be driving
  carrier_.reset();
}

}  // namespace espalier::network
