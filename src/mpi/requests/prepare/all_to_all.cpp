// Persistent allgather(v) and alltoall(v).
// The last argument of make_both() gives the bytes by which rules choose (blocks.hpp).
#include "generated/mpi/requests/prepare/make.hpp"
#include "mpi/requests/prepare/blocks.hpp"
#include "mpi/requests/prepare/brief.hpp"

namespace espalier::mpi::persistent {

void make_allgather(const Transfer& call, Entry& entry, Draft& draft) {
  if (is_brief_transfer(call, Collective::allgather, entry, draft, one_block)) return;
  make_both<EqualBlocks, EqualBlocks>(call, entry, Collective::allgather, 1, rank_info_of(entry).size, draft,
                                      [](const auto& sides) { return sides.in.block_bytes(0); });
}

void make_allgatherv(const Transfer& call, Entry& entry, Draft& draft) {
  if (is_brief_allgatherv(call, entry, draft)) return;
  const auto ranks = static_cast<std::size_t>(rank_info_of(entry).size);
  make_both<EqualBlocks, UnequalBlocks>(call, entry, Collective::allgatherv, 1, rank_info_of(entry).size,
                                        draft, [=](const auto& sides) { return sides.in.bytes() / ranks; });
}

void make_alltoall(const Transfer& call, Entry& entry, Draft& draft) {
  const auto both_blocks = [](std::size_t block) { return 2 * block; };
  if (is_brief_transfer(call, Collective::alltoall, entry, draft, both_blocks)) return;
  const int ranks = rank_info_of(entry).size;
  make_both<EqualBlocks, EqualBlocks>(call, entry, Collective::alltoall, ranks, ranks, draft,
                                      [](const auto& sides) { return sides.in.bytes(); });
}

void make_alltoallv(const Transfer& call, Entry& entry, Draft& draft) {
  if (is_brief_alltoallv(call, entry, draft)) return;
  const int ranks = rank_info_of(entry).size;
  make_both<UnequalBlocks, UnequalBlocks>(call, entry, Collective::alltoallv, ranks, ranks, draft,
                                          unknown_to_others);
}

}  // namespace espalier::mpi::persistent
