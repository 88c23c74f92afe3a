#include "mpi/rma_window.hpp"

namespace espalier::mpi {

using network::Notifications;

RmaWindow::RmaWindow(const network::OneSidedHost::Spec& spec)
    : group_(spec.processes, spec.tag),
      data_(group_, spec.memory->base, spec.memory->bytes, 1),
      notifications_(
          group_, spec.memory->notifications.values(),
          static_cast<std::size_t>(spec.memory->notifications.ids()) * sizeof(Notifications::Value),
          sizeof(Notifications::Value)) {}

void RmaWindow::put(int rank, std::size_t offset, const void* source, std::size_t bytes, int id,
                    std::uint32_t value) {
  data_.put(rank, offset, source, bytes);
  if (value == 0) return;
  if (bytes > 0) data_.flush(rank);
  const MPI_Datatype type = host.constants.notification;
  // An accumulate, since two of them at once on one id, or one beside a rank's reset, must leave one value
  // whole.
  check_one_sided(
      host.Accumulate(&value, 1, type, rank, id, 1, type, host.constants.replace, notifications_.get()),
      "MPI_Accumulate");
  notifications_.flush_local(rank);
}

bool RmaWindow::close() {
  if (!group_.all_have_come())
    return false;  // so that nobody blocks in MPI_Win_free, where it drives nothing
  data_.close();
  notifications_.close();
  return true;
}

}  // namespace espalier::mpi
