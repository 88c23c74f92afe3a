// Persistent bcast, gather(v) and scatter(v).
// The last argument of make_only_out() and make_only_in(): whether all ranks know the bytes (blocks.hpp).
#include "generated/mpi/requests/prepare/make.hpp"
#include "mpi/requests/prepare/blocks.hpp"
#include "mpi/requests/prepare/brief.hpp"

namespace espalier::mpi::persistent {

void make_bcast(const Call& call, Entry& entry, Draft& draft) {
  if (fails(!is_rank(call.root, *entry.communicator), draft)) return;
  if (is_brief_bcast(call, entry, draft)) return;
  const Part part = equal_blocks(call.receive, call.count, call.type);
  const bool is_root = entry.communicator->rank() == call.root;
  (is_root ? make_only_out : make_only_in)(part, call.root, entry, Collective::bcast, draft, true);
}

void make_gather(const Transfer& call, Entry& entry, Draft& draft) {
  if (fails(!is_rank(call.root, *entry.communicator), draft)) return;
  if (is_brief_transfer(call, Collective::gather, entry, draft, one_block)) return;
  if (!is_root(call, entry))
    return make_only_out(call.send, call.root, entry, Collective::gather, draft, true);
  make_both<EqualBlocks, EqualBlocks>(call, entry, Collective::gather, 1, rank_info_of(entry).size, draft,
                                      [](const auto& sides) { return sides.in.block_bytes(0); });
}

void make_gatherv(const Transfer& call, Entry& entry, Draft& draft) {
  if (fails(!is_rank(call.root, *entry.communicator), draft)) return;
  if (is_brief_gatherv(call, entry, draft)) return;
  if (!is_root(call, entry))
    return make_only_out(call.send, call.root, entry, Collective::gatherv, draft, false);
  make_both<EqualBlocks, UnequalBlocks>(call, entry, Collective::gatherv, 1, rank_info_of(entry).size, draft,
                                        unknown_to_others);
}

void make_scatter(const Transfer& call, Entry& entry, Draft& draft) {
  if (fails(!is_rank(call.root, *entry.communicator), draft)) return;
  if (is_brief_transfer(call, Collective::scatter, entry, draft, one_block)) return;
  if (!is_root(call, entry))
    return make_only_in(call.receive, call.root, entry, Collective::scatter, draft, true);
  make_scattering_root<EqualBlocks>(call, entry, Collective::scatter, draft,
                                    [](const auto& sides) { return sides.out.block_bytes(0); });
}

void make_scatterv(const Transfer& call, Entry& entry, Draft& draft) {
  if (fails(!is_rank(call.root, *entry.communicator), draft)) return;
  if (is_brief_scatterv(call, entry, draft)) return;
  if (!is_root(call, entry))
    return make_only_in(call.receive, call.root, entry, Collective::scatterv, draft, false);
  make_scattering_root<UnequalBlocks>(call, entry, Collective::scatterv, draft, unknown_to_others);
}

}  // namespace espalier::mpi::persistent
