// The state of the GASPI layer: its lock, its waits and the checks of numbers.
#include "capi/gaspi/core/layer.hpp"

namespace espalier::capi::gaspi {

// Never destroyed: destructors of static objects of the program may call us.
Layer& layer = *new Layer;

void TurnLock::lock() {
  std::unique_lock guard(mutex_);
  const unsigned long mine = next_++;
  turn_.wait(guard, [&] { return now_ == mine; });
}

bool TurnLock::lock_until(std::chrono::steady_clock::time_point end) {
  std::unique_lock guard(mutex_);
  if (now_ == next_) {
    ++next_;
    return true;
  }
  if (std::chrono::steady_clock::now() >= end) return false;
  const unsigned long mine = next_++;
  if (turn_.wait_until(guard, end, [&] { return now_ == mine; })) return true;
  given_up_.insert(mine);
  return false;
}

void TurnLock::unlock() {
  const std::lock_guard guard(mutex_);
  do ++now_;
  while (given_up_.erase(now_) > 0);
  turn_.notify_all();
}

Group& Layer::group(int number) {
  const auto found = groups.find(number);
  if (found == groups.end())
    throw Failure(GASPI_ERR_INV_GROUP, "there is no group " + std::to_string(number));
  return found->second;
}

Group& Layer::committed_group(int number) {
  Group& found = group(number);
  if (!found.committed)
    throw Failure(GASPI_ERR_INV_GROUP, "group " + std::to_string(number) + " is not committed");
  return found;
}

Segment& Layer::segment(int id) {
  const auto found = segments.find(id);
  if (found == segments.end() || found->second.deleted)
    throw Failure(GASPI_ERR_INV_SEG, "there is no segment " + std::to_string(id));
  return found->second;
}

Queue& Layer::queue_of(int number) {
  if (number >= queues)
    throw Failure(GASPI_ERR_INV_QUEUE,
                  "queue " + std::to_string(number) + ": the queues are 0 to " + std::to_string(queues - 1));
  return queue[static_cast<std::size_t>(number)];
}

const Place& Layer::place(int of_rank) const {
  if (of_rank < 0 || of_rank >= size)
    throw Failure(GASPI_ERR_INV_RANK,
                  "rank " + std::to_string(of_rank) + ": the ranks are 0 to " + std::to_string(size - 1));
  return places[static_cast<std::size_t>(of_rank)];
}

std::size_t Layer::bytes_of(const Segment& segment, int of_rank) const {
  place(of_rank);
  const auto found = segment.bytes.find(of_rank);
  if (found == segment.bytes.end())
    throw Failure(GASPI_ERR_INV_RANK, "rank " + std::to_string(of_rank) + " is not in the segment's group");
  return found->second;
}

int await_some(espalier_window* window, int first, int count, const Deadline& deadline) {
  for (;;) {
    const int slice = deadline.slice_ms();
    int id = -1;
    const int status = espalier_window_notify_waitsome(window, first, count, slice, &id);
    if (status == ESPALIER_OK) return id;
    if (status != ESPALIER_ERR_TIMEOUT) check(status);
    if (slice == 0) throw TimedOut{};
    layer.lock.unlock();
    layer.lock.lock();
  }
}

void flush(espalier_window* window, const Deadline& deadline) {
  for (;;) {
    const int slice = deadline.slice_ms();
    const int status = espalier_window_flush_within(window, slice);
    if (status == ESPALIER_OK) return;
    if (status != ESPALIER_ERR_TIMEOUT) check(status);
    if (slice == 0) throw TimedOut{};
    layer.lock.unlock();
    layer.lock.lock();
  }
}

}  // namespace espalier::capi::gaspi
