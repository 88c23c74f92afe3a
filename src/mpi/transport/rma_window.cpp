#include "mpi/transport/rma_window.hpp"

namespace espalier::mpi {

using network::Landings;

RmaWindow::RmaWindow(const network::OneSidedHost::Spec& spec)
    : rank_(spec.rank),
      size_(static_cast<int>(spec.processes.size())),
      ids_(spec.memory->notifications.ids()),
      group_(spec.processes, spec.tag),
      data_(group_, spec.memory->base, spec.memory->bytes, 1),
      notifications_(group_, spec.memory->notifications.landings().arrived(),
                     static_cast<std::size_t>(ids_) * sizeof(Landings::Word), sizeof(Landings::Word)) {}

void RmaWindow::put(int rank, std::size_t offset, const void* source, std::size_t bytes, int id,
                    std::uint32_t value) {
  data_.put(rank, offset, source, bytes);
  if (value == 0) return;
  if (bytes > 0) data_.flush(rank);
  const std::uint64_t note = note_for(rank, id, value);
  const MPI_Datatype type = host.constants.notification;
  // An accumulate, since two of them at once on one id must leave one of them whole.
  check_one_sided(
      host.Accumulate(&note, 1, type, rank, id, 1, type, host.constants.replace, notifications_.get()),
      "MPI_Accumulate");
  notifications_.flush_local(rank);
}

// Numbers above 0 that no other rank gives, and that this one does not give twice in a row on one id.
std::uint64_t RmaWindow::note_for(int rank, int id, std::uint32_t value) {
  const std::uint32_t numbers = UINT32_MAX / static_cast<std::uint32_t>(size_);
  const auto next = [&] {
    puts_ = puts_ % numbers + 1;
    return (puts_ - 1) * static_cast<std::uint32_t>(size_) + static_cast<std::uint32_t>(rank_) + 1;
  };
  const std::uint64_t key =
      static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(ids_) + static_cast<std::uint64_t>(id);
  std::uint32_t number = next();
  const auto [last, fresh] = last_.try_emplace(key, number);
  if (!fresh && number == last->second) number = next();
  last->second = number;
  return Landings::word(number, value);
}

bool RmaWindow::close() {
  if (!group_.all_have_come())
    return false;  // so that no rank blocks in MPI_Win_free, where it drives nothing
  data_.close();
  notifications_.close();
  return true;
}

}  // namespace espalier::mpi
