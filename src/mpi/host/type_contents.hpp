// How a datatype was made.
#pragma once

#include <vector>

#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// Which constructor made a datatype, and how many arguments it had.
struct Envelope {
  bool decodable = false;
  int integers = 0, addresses = 0, types = 0;
  int counts = 0;  ///< those of type MPI_Count: not 0 for the _c constructors alone
  int combiner = MPI_UNDEFINED;

  explicit Envelope(MPI_Datatype type);
  /// Not to be freed.
  bool predefined() const;
};

/// The arguments of that constructor, those of a _c constructor in the order of the plain one. Inner types that are
/// not predefined are ours to free.
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

 private:
  bool read(MPI_Datatype type, const Envelope& envelope);
  bool read_counts(MPI_Datatype type, const Envelope& envelope);
  bool put_in_order(const std::vector<MPI_Count>& counts, const std::vector<int>& given);
  void free_types();
};

}  // namespace espalier::mpi
