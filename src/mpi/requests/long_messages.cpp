#include "mpi/requests/long_messages.hpp"

#include <algorithm>

#include "runtime/progress/progress_needs.hpp"

namespace espalier::mpi::long_messages {
namespace {

// Relaxed, all of it: nothing else is read because of what stands here.
std::array<std::atomic<Handle>, most> requests_begun;

bool is_known(Handle request) {
  return std::any_of(
      requests_begun.begin(), requests_begun.end(),
      [request](const std::atomic<Handle>& slot) { return slot.load(std::memory_order_relaxed) == request; });
}

/// Puts `to` where `from` stands.
bool replace(Handle from, Handle to) {
  for (std::atomic<Handle>& slot : requests_begun) {
    Handle expected = from;
    if (slot.compare_exchange_strong(expected, to, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace

std::atomic<int> known{0};

// Some hosts have one handle for all messages that were sent at once.
void remember(Handle request) {
  if (request == 0 || is_known(request) || !replace(0, request)) return;
  runtime::add_progress_need();
  known.fetch_add(1, std::memory_order_relaxed);
}

void Completions::find(int count, const MPI_Request* requests) {
  for (int i = 0; i < count && found_ < most; ++i) {
    const Handle request = wide(requests[i]);
    if (request != 0 && is_known(request)) all_[found_++] = {requests + i, request};
  }
}

void Completions::forget_completed() {
  for (std::size_t i = 0; i < found_; ++i) {
    if (wide(*all_[i].place) == all_[i].request || !replace(all_[i].request, 0)) continue;
    known.fetch_sub(1, std::memory_order_relaxed);
    runtime::remove_progress_need();
  }
}

}  // namespace espalier::mpi::long_messages
