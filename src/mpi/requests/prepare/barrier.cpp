// Persistent barrier.
#include "generated/mpi/requests/prepare/make.hpp"
#include "mpi/requests/prepare/rank_info.hpp"

namespace espalier::mpi::persistent {

void make_barrier(const Call&, Entry& entry, Draft& draft) {
  draft.spec = collective::barrier_spec(rank_info_of(entry));
}

}  // namespace espalier::mpi::persistent
