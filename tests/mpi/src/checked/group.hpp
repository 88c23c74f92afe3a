// A communicator as the checks see it: who I am in it, how many we are, and the name that failures print.
#pragma once

#include <mpi.h>

#include <string>

namespace checked {

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = -1;
  int size = 0;
  std::string name;

  Group() = default;
  Group(MPI_Comm communicator, std::string called) : comm(communicator), name(std::move(called)) {
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  bool member() const { return comm != MPI_COMM_NULL; }
  void free() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
};

}  // namespace checked
