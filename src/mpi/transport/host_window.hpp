// An MPI window over some ranks of the job.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi {

inline void check_one_sided(int code, const char* what) {
  if (code != MPI_SUCCESS)
    throw Error(std::string("the host's ") + what + " failed (" + words_of(code) +
                "); ESPALIER_WINDOW_TRANSPORT=message does without it");
}

/// The ranks of a window as a communicator. Freed with it.
class HostGroup {
 public:
  /// Collective over `processes` of MPI_COMM_WORLD; `tag` keeps it apart from others at the same time.
  HostGroup(const std::vector<int>& processes, int tag);
  ~HostGroup();
  HostGroup(const HostGroup&) = delete;
  HostGroup& operator=(const HostGroup&) = delete;
  MPI_Comm comm() const { return comm_; }
  /// Called until it is true: all ranks have called it. Does not block.
  bool all_have_come();

 private:
  MPI_Comm comm_;
  MPI_Request barrier_;
  bool is_waiting_ = false;
};

/// Memory of each rank that the others may write to at any time, from open() to close(), which are
/// collective.
class HostWindow {
 public:
  /// `counters`: of Intel MPI's notified puts, at each rank.
  HostWindow(const HostGroup& group, void* base, std::size_t bytes, int unit, int counters = 0);
  HostWindow(const HostWindow&) = delete;
  HostWindow& operator=(const HostWindow&) = delete;
  MPI_Win get() const { return window_; }
  void close();

  void put(int rank, std::size_t offset, const void* source, std::size_t bytes) const;
  void get(int rank, std::size_t offset, void* target, std::size_t bytes) const;
  /// Until what this rank has written there has arrived; until its sources and targets are its own again.
  void flush(int rank) const { check_one_sided(host.Win_flush(rank, window_), "MPI_Win_flush"); }
  void flush_local(int rank) const {
    check_one_sided(host.Win_flush_local(rank, window_), "MPI_Win_flush_local");
  }
  void flush() const { check_one_sided(host.Win_flush_all(window_), "MPI_Win_flush_all"); }
  void flush_local() const { check_one_sided(host.Win_flush_local_all(window_), "MPI_Win_flush_local_all"); }

 private:
  MPI_Win window_;
  bool counts_;
};

}  // namespace espalier::mpi
