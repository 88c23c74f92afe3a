// One-sided access by Intel MPI's puts that notify.
#pragma once

#include <deque>
#include <vector>

#include "mpi/transport/host_window.hpp"
#include "network/window/one_sided.hpp"

namespace espalier::mpi {

/// Intel's notifications are counters of one process, without a value. So each pair of ranks has a few
/// places. The data go to the window's memory, a note (id, value) goes to the place, and each adds to a
/// counter at the target. The target takes the note when both have arrived: it sets the notification that
/// its node sees, and adds to the sender's counter of free places. A put waits only while all places of its
/// pair are taken.
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
  /// Numbers of notes to another rank (sent, freed) and from it (taken).
  struct Pair {
    unsigned sent = 0, freed = 0, taken = 0;
    Note under_way[places] = {};
  };

  // Numbers of the counters: of notes (in the data's window: of data) that arrived for a place of a rank, and
  // of places that a rank has freed.
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
  std::vector<Note> notes_;  // put by other ranks: by rank and place
  HostWindow notes_window_;
  std::vector<Pair> pairs_;  // by rank
};

}  // namespace espalier::mpi
