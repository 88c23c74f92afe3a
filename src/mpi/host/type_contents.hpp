// How a datatype was made.
#pragma once

#include <vector>

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// Which constructor made a datatype, and how many arguments it had.
struct Envelope {
  bool decodable = false;  ///< false also for constructors with MPI_Count arguments
  int integers = 0, addresses = 0, types = 0;
  int combiner = MPI_UNDEFINED;

  explicit Envelope(MPI_Datatype type);
  /// Not to be freed.
  bool predefined() const;
};

/// The arguments of that constructor. Inner types that are not predefined are ours to free.
struct Contents {
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner;
  bool predefined;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;  ///< empty for a predefined type, and for what cannot be decoded
};

}  // namespace espalier::mpi
