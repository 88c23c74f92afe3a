#include "mpi/transport/host_window.hpp"

#include <algorithm>

namespace espalier::mpi {
namespace {

constexpr std::size_t longest = std::size_t{1} << 30;  // counts are ints

template <class Transfer>
void in_pieces(std::size_t bytes, Transfer transfer) {
  for (std::size_t begin = 0; begin < bytes; begin += longest)
    transfer(begin, std::min(bytes - begin, longest));
}

}  // namespace

HostGroup::HostGroup(const std::vector<int>& processes, int tag) {
  MPI_Group job, members;
  check_one_sided(host.Comm_group(host.constants.world, &job), "MPI_Comm_group");
  int code = host.Group_incl(job, static_cast<int>(processes.size()), processes.data(), &members);
  if (code == MPI_SUCCESS) {
    constexpr int least_tags = 32767;  // what MPI promises
    code = host.Comm_create_group(host.constants.world, members, tag % least_tags, &comm_);
    host.Group_free(&members);
  }
  host.Group_free(&job);
  check_one_sided(code, "MPI_Comm_create_group");
  host.Comm_set_errhandler(comm_, host.constants.errors_return);
}

bool HostGroup::all_have_come() {
  if (!is_waiting_) check_one_sided(host.Ibarrier(comm_, &barrier_), "MPI_Ibarrier");
  is_waiting_ = true;
  int done = 0;
  MPI_Status status;
  check_one_sided(host.Test(&barrier_, &done, &status), "MPI_Test");
  is_waiting_ = !done;
  return done != 0;
}

HostGroup::~HostGroup() { host.Comm_free(&comm_); }

HostWindow::HostWindow(const HostGroup& group, void* base, std::size_t bytes, int unit, int counters)
    : counts_(counters > 0) {
  check_one_sided(host.Win_create(base, static_cast<MPI_Aint>(bytes), unit, host.constants.info_null,
                                  group.comm(), &window_),
                  "MPI_Win_create");
  host.Win_set_errhandler(window_, host.constants.errors_return);
  // Counters cannot be made or freed while the window is open to others.
  if (counts_) check_one_sided(host.Win_create_notify(window_, counters), "MPIX_Win_create_notify");
  check_one_sided(host.Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}

void HostWindow::close() {
  check_one_sided(host.Win_unlock_all(window_), "MPI_Win_unlock_all");
  if (counts_) check_one_sided(host.Win_free_notify(window_), "MPIX_Win_free_notify");
  check_one_sided(host.Win_free(&window_), "MPI_Win_free");
}

void HostWindow::put(int rank, std::size_t offset, const void* source, std::size_t bytes) const {
  const MPI_Datatype byte = host.constants.byte;
  in_pieces(bytes, [&](std::size_t begin, std::size_t part) {
    const int count = static_cast<int>(part);
    check_one_sided(host.Put(static_cast<const std::byte*>(source) + begin, count, byte, rank,
                             static_cast<MPI_Aint>(offset + begin), count, byte, window_),
                    "MPI_Put");
  });
}

void HostWindow::get(int rank, std::size_t offset, void* target, std::size_t bytes) const {
  const MPI_Datatype byte = host.constants.byte;
  in_pieces(bytes, [&](std::size_t begin, std::size_t part) {
    const int count = static_cast<int>(part);
    check_one_sided(host.Get(static_cast<std::byte*>(target) + begin, count, byte, rank,
                             static_cast<MPI_Aint>(offset + begin), count, byte, window_),
                    "MPI_Get");
  });
}

}  // namespace espalier::mpi
