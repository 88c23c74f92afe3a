// One-sided access by Intel MPI's puts that notify.
#pragma once

#include <deque>
#include <vector>

#include "mpi/transport/host_window.hpp"
#include "network/window/one_sided.hpp"

namespace espalier::mpi {

/// Intel's notifications are counters of one process, without a value. So each pair of ranks has a few
/// places: the data go to the segment and a note (id, value) to the place, and both count at the target. It
/// takes the note when both have come, sets the notification that its node sees, and counts at the sender
/// that the place is free. Nothing need wait for anything between, unless all places of a pair are taken.
class NotifyWindow final : public network::OneSided {
 public:
  explicit NotifyWindow(const network::OneSidedHost::Spec& spec);

  void put(int rank, std::size_t offset, const void* source, std::size_t bytes, int id,
           std::uint32_t value) override;
  void get(int rank, std::size_t offset, void* target, std::size_t bytes) override {
    data_.get(rank, offset, target, bytes);
  }
  void complete() override { data_.flush_local(); }
  bool drive() override;
  bool arrived() override;
  bool close() override;

 private:
  static constexpr int places = 4;  // of a pair of ranks
  /// What lies in a place. Plain bytes: it crosses the network.
  struct Note {
    std::int32_t id;
    std::uint32_t value;
    std::int32_t with_data;
    std::int32_t padding;
  };
  /// How far this rank is with another.
  struct Pair {
    unsigned sent = 0, freed = 0, taken = 0;
    Note under_way[places] = {};
  };

  // Counters: of notes (and, in the data's window, of data) from a rank's place; of places freed by a rank.
  int arrived(int rank, unsigned number) const { return rank * places + static_cast<int>(number % places); }
  int freed(int rank) const { return size_ * places + rank; }
  int counters() const { return size_ * (places + 1); }
  std::size_t position_of(int rank, unsigned number) const {
    return static_cast<std::size_t>(arrived(rank, number)) * sizeof(Note);
  }
  void make_room(int rank);
  bool take(int rank);

  int rank_, size_;
  const network::WindowMemory memory_;
  HostGroup group_;
  HostWindow data_;
  std::vector<Note> notes_;  // what others put: by rank and place
  HostWindow notes_window_;
  std::vector<Pair> pairs_;  // by rank
};

}  // namespace espalier::mpi
