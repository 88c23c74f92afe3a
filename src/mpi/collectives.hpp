// The collectives that Espalier takes over, for the entry points of every language.
#pragma once

#include "mpi/abi.hpp"

namespace espalier::mpi {

/// A call as it was made. Handles are not looked at before it is known that the host has this build's ABI.
struct Call {
  const void* send = nullptr;
  void* receive = nullptr;  ///< bcast: the buffer
  MPI_Count count = 0;
  Handle type = 0;
  Handle op = 0;
  int root = 0;
  Handle comm = 0;
  bool large = false;  ///< the _c form
};

/// Each serves the call or hands it to the host, and returns what the program gets. `caller` as in resolve().
/// They throw nothing.
int barrier(const Call& call, void* caller) noexcept;
int bcast(const Call& call, void* caller) noexcept;
int reduce(const Call& call, void* caller) noexcept;
int allreduce(const Call& call, void* caller) noexcept;

}  // namespace espalier::mpi
