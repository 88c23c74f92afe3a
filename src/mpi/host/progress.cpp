#include "mpi/host/progress.hpp"

#include <mutex>

#include "machine/host_platform.hpp"
#include "mpi/host/host.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/missed_tests.hpp"

namespace espalier::mpi::progress {
namespace {

std::mutex mutex;
MPI_Request pending;
bool is_open = false;
std::atomic<std::int64_t> caught_up_ns{0};

constexpr std::int64_t a_while_ns = 100'000;

/// One thread at a time is enough, and a thread that comes second must not wait.
void make_progress(void*) {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock || !is_open) return;
  int done = 0;
  MPI_Status status;
  host.Test(&pending, &done, &status);
}

int query(void*, MPI_Status* status) {
  host.Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

// What comes while this runs may make the next test due again: the mark goes first.
void catch_up() {
  runtime::asking::forget_collectives();
  const std::int64_t now = machine::HostPlatform::now_ns();
  const bool is_rare = now - caught_up_ns.exchange(now, std::memory_order_relaxed) >= a_while_ns;
  for (int left = is_rare ? abi::progress_calls_after_a_while : abi::progress_calls; left > 0; --left)
    make_progress(nullptr);
}

bool open() {
  const std::lock_guard lock(mutex);
  if (!is_open) is_open = host.Grequest_start(query, release, cancel, nullptr, &pending) == MPI_SUCCESS;
  if (is_open) runtime::Process::instance().set_host_progress({make_progress, nullptr});
  return is_open;
}

void close() {
  const std::lock_guard lock(mutex);
  if (!is_open) return;
  is_open = false;
  MPI_Status status;
  if (host.Grequest_complete(pending) == MPI_SUCCESS) host.Wait(&pending, &status);
}

}  // namespace espalier::mpi::progress
