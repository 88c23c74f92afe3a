// Handing a call to the next in line, untouched.
#pragma once

#include "mpi/collectives.hpp"

namespace espalier::mpi {

int forward_barrier(const Call& call);
int forward_bcast(const Call& call);
int forward_reduce(const Call& call);
int forward_allreduce(const Call& call);

}  // namespace espalier::mpi
