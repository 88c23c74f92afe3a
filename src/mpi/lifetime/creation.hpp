// Which communicator a new one is: a name that all its ranks come to by themselves, so that they need not
// agree on one.
#pragma once

#include <cstdint>

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

enum class Creation {
  of_all,   ///< collective over the parent: all its ranks count it
  by_group  ///< collective over the new communicator alone
};

/// Lives while the host makes a communicator. MPI demands that the ranks of a communicator create others from
/// it in one order, so the parent's name and a number name the child; MPI_COMM_WORLD is where it begins. What
/// the program's attribute callbacks, or the host itself, create meanwhile has no name, and neither has what
/// comes from a communicator without one (spawned, merged, of a session): ranks of these agree at their first
/// collective. Inert where Espalier does not serve.
class Creating {
 public:
  Creating(Creation kind, Handle parent, int tag);
  ~Creating();
  Creating(const Creating&) = delete;
  Creating& operator=(const Creating&) = delete;

  /// The host has made it. MPI_COMM_NULL is none.
  void made(Handle handle) const;

 private:
  void name(Handle handle) const;
  bool is_outermost_;
  Creation kind_;
  Handle parent_;
  int tag_;
  std::uint64_t number_ = 0;  ///< 0: the parent has no name
};

}  // namespace espalier::mpi
