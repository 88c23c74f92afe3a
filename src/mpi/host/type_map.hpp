// Does the type map of a datatype run through memory without a gap and in order?
#pragma once

#include <optional>

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// Bytes [begin, end) from the buffer's address, covered once each, in ascending order.
struct Run {
  MPI_Count begin = 0, end = 0;
  bool empty() const { return begin == end; }
  MPI_Count bytes() const { return end - begin; }
};

/// The run that is all of the datatype's data, or nothing when it is not a single run, or too unusual to tell
/// (then packing is right as well, only slower).
std::optional<Run> single_run(MPI_Datatype type);

/// Which constructor made the datatype, MPI_UNDEFINED if the host does not say.
int combiner_of(MPI_Datatype type);

}  // namespace espalier::mpi
