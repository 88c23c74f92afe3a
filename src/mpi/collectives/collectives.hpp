// The collectives that Espalier takes over, for the entry points of every language.
#pragma once

#include "mpi/abi/abi.hpp"
#include "mpi/host/count_arrays.hpp"

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
  Numbers counts{};    ///< reduce_scatter: one for each rank, instead of `count`
};

/// The call of a reduce_scatter.
inline Call with_counts(const void* send, void* receive, Numbers counts, Handle type, Handle op,
                        Handle comm) {
  Call call = {send, receive, 0, type, op, 0, comm, counts.is_wide()};
  call.counts = counts;
  return call;
}

/// Each serves the call or hands it to the host, and returns what the program gets. `caller` as in resolve().
/// What leaves them is what the program's own functions threw: its error handlers, its operators.
int barrier(const Call& call, void* caller);
int bcast(const Call& call, void* caller);
int reduce(const Call& call, void* caller);
int allreduce(const Call& call, void* caller);
int reduce_scatter_block(const Call& call, void* caller);
int reduce_scatter(const Call& call, void* caller);
int scan(const Call& call, void* caller);
int exscan(const Call& call, void* caller);

/// One side of a call that moves blocks of data.
struct Part {
  void* buffer = nullptr;  ///< only read on the side that sends
  MPI_Count count = 0;     ///< of one block, where all have the same
  Handle type = 0;
  Numbers counts{}, displacements{};  ///< the v forms: of the block of each rank, in elements
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

/// A call that moves blocks, as it was made. What MPI calls not significant at this rank may hold anything.
struct Transfer {
  Part send{}, receive{};
  int root = 0;
  Handle comm = 0;
  bool large = false;  ///< the _c form
};

int allgather(const Transfer& call, void* caller);
int allgatherv(const Transfer& call, void* caller);
int gather(const Transfer& call, void* caller);
int gatherv(const Transfer& call, void* caller);
int scatter(const Transfer& call, void* caller);
int scatterv(const Transfer& call, void* caller);
int alltoall(const Transfer& call, void* caller);
int alltoallv(const Transfer& call, void* caller);

}  // namespace espalier::mpi
