// Handing a call to the next in line, untouched.
#pragma once

#include "mpi/collectives/collectives.hpp"

namespace espalier::mpi {

int forward_barrier(const Call& call);
int forward_bcast(const Call& call);
int forward_reduce(const Call& call);
int forward_allreduce(const Call& call);
int forward_reduce_scatter_block(const Call& call);
int forward_reduce_scatter(const Call& call);
int forward_scan(const Call& call);
int forward_exscan(const Call& call);

int forward_allgather(const Transfer& call);
int forward_allgatherv(const Transfer& call);
int forward_gather(const Transfer& call);
int forward_gatherv(const Transfer& call);
int forward_scatter(const Transfer& call);
int forward_scatterv(const Transfer& call);
int forward_alltoall(const Transfer& call);
int forward_alltoallv(const Transfer& call);

}  // namespace espalier::mpi
