#include "mpi/transport/notify_window.hpp"

#include "runtime/process/process.hpp"

namespace espalier::mpi {
namespace {

MPI_Count counter(const HostWindow& window, int index) {
  MPI_Count count = 0;
  check_one_sided(host.Win_get_notify(window.get(), index, &count), "MPIX_Win_get_notify");
  return count;
}

void clear(const HostWindow& window, int index) {
  check_one_sided(host.Win_set_notify(window.get(), index, 0), "MPIX_Win_set_notify");
}

void put_and_count(const HostWindow& window, int rank, std::size_t offset, const void* source,
                   std::size_t bytes, int index) {
  const int count = static_cast<int>(bytes);
  const MPI_Datatype byte = host.constants.byte;
  check_one_sided(host.Put_notify(source, count, byte, rank, static_cast<MPI_Aint>(offset), count, byte,
                                  index, window.get()),
                  "MPIX_Put_notify");
}

}  // namespace

NotifyWindow::NotifyWindow(const network::OneSidedHost::Spec& spec)
    : rank_(spec.rank),
      size_(static_cast<int>(spec.processes.size())),
      memory_(*spec.memory),
      group_(spec.processes, spec.tag),
      data_(group_, memory_.base, memory_.bytes, 1, counters()),
      notes_(static_cast<std::size_t>(size_) * places),
      notes_window_(group_, notes_.data(), notes_.size() * sizeof(Note), 1, counters()),
      pairs_(static_cast<std::size_t>(size_)) {}

void NotifyWindow::put(int rank, std::size_t offset, const void* source, std::size_t bytes, int id,
                       std::uint32_t value) {
  if (value == 0) return data_.put(rank, offset, source, bytes);
  constexpr std::size_t longest = std::size_t{1} << 30;
  if (bytes > longest) {  // more than one call can carry: only the last piece counts
    const std::size_t head = bytes - longest;
    data_.put(rank, offset, source, head);
    data_.flush(rank);
    return put(rank, offset + head, static_cast<const std::byte*>(source) + head, longest, id, value);
  }
  make_room(rank);
  Pair& pair = pairs_[static_cast<std::size_t>(rank)];
  const unsigned number = pair.sent++;
  Note& note = pair.under_way[number % places];
  note = {id, value, bytes > 0, 0};
  const int index = arrived(rank_, number);
  if (bytes > 0) put_and_count(data_, rank, offset, source, bytes, index);
  put_and_count(notes_window_, rank, position_of(rank_, number), &note, sizeof note, index);
  notes_window_.flush_local(rank);
}

// Others may wait for this rank likewise, so it takes their notes meanwhile.
void NotifyWindow::make_room(int rank) {
  Pair& pair = pairs_[static_cast<std::size_t>(rank)];
  while (pair.sent - pair.freed == places) {
    pair.freed = static_cast<unsigned>(counter(notes_window_, freed(rank)));
    if (pair.sent - pair.freed < places) break;
    drive();
    runtime::Process::instance().drive_host();
  }
}

bool NotifyWindow::drive() {
  bool any = false;
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_)
      while (take(rank)) any = true;
  return any;
}

// In the order in which they were sent; the counters of a place are 0 or 1, since it is not used again before
// it is freed.
bool NotifyWindow::take(int rank) {
  Pair& pair = pairs_[static_cast<std::size_t>(rank)];
  const int index = arrived(rank, pair.taken);
  if (counter(notes_window_, index) == 0) return false;
  const Note note = notes_[static_cast<std::size_t>(index)];
  if (note.with_data && counter(data_, index) == 0) return false;
  clear(notes_window_, index);
  if (note.with_data) clear(data_, index);
  ++pair.taken;
  memory_.notifications.set(note.id, note.value);
  put_and_count(notes_window_, rank, 0, nullptr, 0, freed(rank_));
  return true;
}

bool NotifyWindow::arrived() {
  data_.flush();
  for (int rank = 0; rank < size_; ++rank) {
    Pair& pair = pairs_[static_cast<std::size_t>(rank)];
    if (pair.sent == pair.freed) continue;
    pair.freed = static_cast<unsigned>(counter(notes_window_, freed(rank)));
    if (pair.sent != pair.freed) return false;
  }
  return true;
}

bool NotifyWindow::close() {
  if (!group_.all_have_come()) return false;
  data_.close();
  notes_window_.close();
  return true;
}

}  // namespace espalier::mpi
