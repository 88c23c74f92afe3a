#include "mpi/progress.hpp"

#include <mutex>

#include "mpi/host.hpp"
#include "runtime/process.hpp"

namespace espalier::mpi::progress {
namespace {

std::mutex mutex;
MPI_Comm own;
bool is_open = false;

/// A probe that can match nothing runs the host's progress engine once. One thread at a time is enough, and
/// whoever comes second must not wait.
void poke(void*) {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock || !is_open) return;
  int found = 0;
  MPI_Status status;
  host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own, &found, &status);
}

bool communicator_of_one(MPI_Comm from) {
  if (from == host.constants.self) return host.Comm_dup(from, &own) == MPI_SUCCESS;
  if (!host.Comm_create_group) return false;
  MPI_Group all, me;
  int rank = 0;
  if (host.Comm_rank(from, &rank) != MPI_SUCCESS || host.Comm_group(from, &all) != MPI_SUCCESS) return false;
  // A group of one: a local call, although other ranks may be in the middle of theirs.
  const bool made = host.Group_incl(all, 1, &rank, &me) == MPI_SUCCESS &&
                    host.Comm_create_group(from, me, 0, &own) == MPI_SUCCESS;
  host.Group_free(&me);
  host.Group_free(&all);
  return made;
}

}  // namespace

bool open(MPI_Comm from) {
  const std::lock_guard lock(mutex);
  if (!is_open) is_open = communicator_of_one(from);
  if (is_open) runtime::Process::instance().set_host_progress({poke, nullptr});
  return is_open;
}

void close() {
  const std::lock_guard lock(mutex);
  if (is_open) host.Comm_free(&own);
  is_open = false;
}

}  // namespace espalier::mpi::progress
