// What all parts of this program share: counting, what is left out, and the numbers that ranks send each
// other.
#pragma once

#include <mpi.h>

#include <string>

namespace persistent {

enum Kind {
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  alltoall,
  alltoallv,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  kinds
};

constexpr int each = -1;  // as many blocks as ranks

struct Traits {
  const char* name;
  int sends, receives;  // blocks
  bool unequal = false, rooted = false;
};
extern const Traits traits[kinds];

// For hosts that have some collectives wrong, mix up requests that ranks start in another order, or need the
// datatypes of a request as long as that lives.
struct Options {
  bool left_out[kinds] = {};
  bool in_order = false;
  bool keeps_types = false;
};
extern Options options;

// Says so on stderr where it is wrong. `what` is asked for only then.
template <class What>
void expect(bool right, What what);
void count_check();
void report(const std::string& what);

// What `source` has for `target`, or contributes to block `target`.
inline long told(int source, int target, int i, int round) {
  return (source + 1) * 1000003L + (target + 1) * (source + 3) * 7919L + i * (source + 2L) + round * 31L;
}

struct Place {
  int rank = 0, size = 0;
  explicit Place(MPI_Comm comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
};

void check_operators(MPI_Comm comm);
void check_user_operator(MPI_Comm comm);
void check_datatypes(MPI_Comm comm);

template <class What>
void expect(bool right, What what) {
  count_check();
  if (!right) report(what());
}

}  // namespace persistent
