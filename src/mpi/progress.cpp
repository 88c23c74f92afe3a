#include "mpi/progress.hpp"

#include <mutex>

#include "mpi/host.hpp"
#include "runtime/process.hpp"

namespace espalier::mpi::progress {
namespace {

std::mutex mutex;
MPI_Request pending;
bool is_open = false;

/// One thread at a time is enough, and whoever comes second must not wait.
void poke(void*) {
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

bool open() {
  const std::lock_guard lock(mutex);
  if (!is_open) is_open = host.Grequest_start(query, release, cancel, nullptr, &pending) == MPI_SUCCESS;
  if (is_open) runtime::Process::instance().set_host_progress({poke, nullptr});
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
