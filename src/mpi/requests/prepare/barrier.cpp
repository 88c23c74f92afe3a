// Persistent barrier.
#include <utility>

#include "generated/mpi/requests/prepare/make.hpp"
#include "mpi/requests/prepare/rank_info.hpp"

namespace espalier::mpi::persistent {

void make_barrier(const Call&, Entry& entry, Draft& draft) {
  if (draft.may_be_brief) return draft.be_brief(0, {}, nullptr, false);
  draft.spec = collective::barrier_spec(rank_info_of(entry), std::move(draft.spec));
}

}  // namespace espalier::mpi::persistent
