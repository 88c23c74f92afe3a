// The arguments of a collective, as entry points of every language pass them to the functions that serve it.
#pragma once

#include "mpi/abi/abi.hpp"
#include "mpi/host/count_arrays.hpp"
#include "mpi/host/type_arrays.hpp"

namespace espalier::mpi {

/// A call as it was made. Its handles are used only when it is known that the host has this build's ABI.
struct Call {
  const void* send = nullptr;
  void* receive = nullptr;  ///< bcast: the buffer
  MPI_Count count = 0;
  Handle type = 0;
  Handle op = 0;
  int root = 0;
  Handle comm = 0;
  bool large = false;  ///< the _c form
  Numbers counts{};    ///< reduce_scatter: one for each rank, instead of `count`
};

/// One side of a call that moves blocks of data.
struct Part {
  void* buffer = nullptr;  ///< only read on the side that sends
  MPI_Count count = 0;     ///< of one block, where all have the same
  Handle type = 0;
  Numbers counts{}, displacements{};  ///< the v forms: of the block of each rank, in elements
  Types types{};                      ///< the w forms: one for each block, and displacements are in bytes
};

inline Part equal_blocks(const void* buffer, MPI_Count count, Handle type) {
  Part part;
  part.buffer = const_cast<void*>(buffer);
  part.count = count;
  part.type = type;
  return part;
}

inline Part unequal_blocks(const void* buffer, Numbers counts, Numbers displacements, Handle type) {
  Part part;
  part.buffer = const_cast<void*>(buffer);
  part.type = type;
  part.counts = counts;
  part.displacements = displacements;
  return part;
}

inline Part mixed_blocks(const void* buffer, Numbers counts, Numbers displacements, Types types) {
  Part part = unequal_blocks(buffer, counts, displacements, {});
  part.types = types;
  return part;
}

/// A call that moves blocks, as it was made. What MPI calls not significant at this rank may hold anything.
struct Transfer {
  Part send{}, receive{};
  int root = 0;
  Handle comm = 0;
  bool large = false;  ///< the _c form
};

}  // namespace espalier::mpi
