// A _c call for a host that has only the plain form: its numbers as int, if they fit.
#pragma once

#include <vector>

#include "mpi/host/count_arrays.hpp"

namespace espalier::mpi {

bool fits_int(std::int64_t number);

/// Prints why the call cannot be made; returns an error code.
int too_large();

/// Numbers that are int already are passed through, not looked at.
class Narrow {
 public:
  Narrow(const Numbers& numbers, int count);
  bool fits() const { return fits_; }
  const int* data() const { return values_; }

 private:
  std::vector<int> copy_;
  const int* values_ = nullptr;
  bool fits_ = true;
};

/// How many entries the arrays of a call have. Asked of the next in line, for a host of any ABI.
int local_ranks(Handle comm);
/// In an inter-communicator the ranks of the other group.
int peers(Handle comm);
/// In the topology of a communicator, of this rank; none where it has no topology.
struct NeighbourCounts {
  int sources = 0, destinations = 0;
};
NeighbourCounts neighbours(Handle comm);
/// peers() at the root, none elsewhere: there arrays are not significant.
int peers_of_root(Handle comm, int root);

}  // namespace espalier::mpi
