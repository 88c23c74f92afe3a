// How the processes of one machine find each other by a common name, before they share memory.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace espalier::capi {

/// A star of Unix sockets around rank 0, on an abstract address: nothing in any file system, and nothing left
/// when a process dies. Used by one thread.
class Meeting {
 public:
  /// Collective: returns when all ranks have come. Throws CodedError (timeout, a rank taken twice, another
  /// size).
  Meeting(const std::string& name, int rank, int size, int timeout_ms);

  /// Collective: `all` receives `bytes` from each rank, in rank order.
  void allgather(const void* mine, void* all, std::size_t bytes);

 private:
  void wait_for_all();
  void go_to_first();
  int rank_, size_;
  int timeout_ms_;
  std::string name_;
  std::vector<Descriptor> connections_;  // at rank 0: of each rank; elsewhere: to rank 0, at index 0
};

}  // namespace espalier::capi
