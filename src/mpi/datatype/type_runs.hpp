// From a datatype of the host to the runs of bytes that its data are.
#pragma once

#include <memory>
#include <optional>

#include "memory/layout/runs.hpp"
#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

/// All combs of one element, and its extent. None: the datatype has more combs than memory::Runs takes, or was
/// made in a way that is not followed (MPI_Type_create_darray, pairs of value and index, numbers beyond an int).
std::optional<memory::Runs> runs_of(MPI_Datatype type);

/// What is known of a derived datatype as long as it lives.
struct KeptType {
  std::size_t size = 0;  ///< bytes of data of one element
  MPI_Count extent = 0;  ///< bytes from one element to the next
  /// None: data are packed and unpacked by the host. Shared with calls that the datatype may not outlive.
  std::shared_ptr<const memory::Runs> runs;
  bool goes_on = false;  ///< elements one behind the other are one run
};

/// Found once for each datatype and kept as its attribute. Null: the host does not know the datatype, or it is
/// not committed; then the call is the host's, to report. Thread-safe.
const KeptType* kept_type(MPI_Datatype type);

/// At finalize: the keyval is given up. The host frees what datatypes still keep.
void close_kept_types();

}  // namespace espalier::mpi
