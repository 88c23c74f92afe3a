// What init calls make of their arguments (persistent.hpp).
#pragma once

#include "mpi/collectives/collectives.hpp"
#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::persistent {

// Each fills in `draft`: what the rank will do, or why it cannot.
void make_barrier(const Call& call, Entry& entry, Draft& draft);
void make_bcast(const Call& call, Entry& entry, Draft& draft);
void make_reduce(const Call& call, Entry& entry, Draft& draft);
void make_allreduce(const Call& call, Entry& entry, Draft& draft);
void make_reduce_scatter_block(const Call& call, Entry& entry, Draft& draft);
void make_reduce_scatter(const Call& call, Entry& entry, Draft& draft);
void make_scan(const Call& call, Entry& entry, Draft& draft);
void make_exscan(const Call& call, Entry& entry, Draft& draft);

void make_allgather(const Transfer& call, Entry& entry, Draft& draft);
void make_allgatherv(const Transfer& call, Entry& entry, Draft& draft);
void make_gather(const Transfer& call, Entry& entry, Draft& draft);
void make_gatherv(const Transfer& call, Entry& entry, Draft& draft);
void make_scatter(const Transfer& call, Entry& entry, Draft& draft);
void make_scatterv(const Transfer& call, Entry& entry, Draft& draft);
void make_alltoall(const Transfer& call, Entry& entry, Draft& draft);
void make_alltoallv(const Transfer& call, Entry& entry, Draft& draft);

inline collective::RankInfo rank_info_of(const Entry& entry) {
  return {entry.communicator->rank(), entry.communicator->size()};
}

}  // namespace espalier::mpi::persistent
