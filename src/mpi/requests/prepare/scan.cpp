// Persistent and nonblocking scan and exscan.
#include "generated/mpi/requests/prepare/make.hpp"
#include "mpi/requests/prepare/brief.hpp"
#include "mpi/requests/prepare/reduction.hpp"

namespace espalier::mpi::persistent {

void make_scan(const Call& call, Entry& entry, Draft& draft) {
  if (is_brief_reduction(call, Collective::scan, true, entry, draft)) return;
  make_plain(call, entry, Collective::scan, true, draft);
}

void make_exscan(const Call& call, Entry& entry, Draft& draft) {
  const bool is_target = entry.communicator->rank() != 0 || is_in_place(call.send);
  if (is_brief_reduction(call, Collective::exscan, is_target, entry, draft)) return;
  make_plain(call, entry, Collective::exscan, is_target, draft);
}

}  // namespace espalier::mpi::persistent
