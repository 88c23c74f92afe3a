// What the persistent collectives that move blocks make of their sides.
#pragma once

#include <algorithm>

#include "mpi/call.hpp"
#include "mpi/datatype/staging.hpp"
#include "mpi/requests/prepare/rank_info.hpp"

namespace espalier::mpi::persistent {

using collective::Block;
using collective::RankInfo;

/// Both sides of a call. A side that has no part in it stays empty.
template <class Out, class In>
struct Sides {
  Out out;
  In in;
  bool has_out = false, has_in = false;
};

/// A datatype with gaps is needed as long as the request, whatever the program does with it.
inline Part kept(const Part& part, Draft& draft) {
  Part copy = part;
  draft.types.emplace_back(part.type);
  copy.type = draft.types.back().handle();
  return copy;
}

template <class Side>
bool open(Side& side, const Part& part, int blocks, MPI_Comm comm, Draft& draft) {
  if (typed<MPI_Datatype>(part.type) == host.constants.datatype_null ||
      !side.look_at(kept(part, draft), blocks))
    return false;
  if (side.bytes() > 0) side.open(comm);  // the datatype of an empty block may be laid out in no way
  return true;
}

/// Where the block for, or from, each rank lies; the only one for all of them, where there is one.
template <class Side>
std::vector<Block> blocks_of(Side& side, int blocks, const RankInfo& rank_info) {
  std::vector<Block> all;
  for (int rank = 0; rank < rank_info.size; ++rank) {
    const int index = blocks == 1 ? 0 : rank;
    const std::size_t bytes = side.block_bytes(index);
    all.push_back({bytes > 0 ? side.block(index) : nullptr, bytes});
  }
  return all;
}

/// Of all ranks one alone has a block to send to, or to receive from.
inline std::vector<Block> only(int rank, const Block& block, const RankInfo& rank_info) {
  std::vector<Block> all(static_cast<std::size_t>(rank_info.size));
  all[static_cast<std::size_t>(rank)] = block;
  return all;
}

inline MPI_Comm comm_for_packing(const Entry& entry) { return lasting(host.constants.self, entry); }

template <class Out, class In>
void keep(std::shared_ptr<Sides<Out, In>> sides, Draft& draft) {
  Sides<Out, In>* both = sides.get();
  if (both->has_out && both->out.is_packed_apart()) draft.load = [both] { both->out.load(); };
  if (both->has_in && both->in.is_packed_apart()) draft.store = [both] { both->in.store(); };
  draft.sides = std::move(sides);
}

/// What is sent lies in the receive buffer, as MPI_IN_PLACE says: it is packed before each start.
template <class Out, class In>
void keep_in_place(std::shared_ptr<Sides<Out, In>> sides, Draft& draft) {
  In* in = &sides->in;
  if (in->is_packed_apart()) {
    draft.load = [in] { in->load(); };
    draft.store = [in] { in->store(); };
  }
  draft.sides = std::move(sides);
}

inline bool fails(bool condition, Draft& draft) {
  if (condition) draft.unable = bad_arguments;
  return condition;
}

/// Allgather, allgatherv, alltoall, alltoallv, and the roots of gather(v) and scatter(v). `out_blocks`,
/// `in_blocks`: of either side, one for each rank or one in all. `bytes(sides)`: by which rules choose.
template <class Out, class In, class Bytes>
void make_both(const Transfer& call, Entry& entry, Collective collective, int out_blocks, int in_blocks,
               Draft& draft, Bytes bytes) {
  const RankInfo rank_info = rank_info_of(entry);
  const MPI_Comm comm = comm_for_packing(entry);
  auto sides = std::make_shared<Sides<Out, In>>();
  const bool in_place = is_in_place(call.send.buffer);
  const int own = rank_info.rank;
  sides->has_in = true;
  if (fails(!open(sides->in, call.receive, in_blocks, comm, draft), draft)) return;
  std::vector<Block> in = blocks_of(sides->in, in_blocks, rank_info), out = in;
  if (!in_place) {
    sides->has_out = true;
    if (fails(!open(sides->out, call.send, out_blocks, comm, draft), draft)) return;
    out = blocks_of(sides->out, out_blocks, rank_info);
    const auto at = static_cast<std::size_t>(own);
    if (fails(out[at].bytes != in[at].bytes || is_alias_for_host(call, out[at].data, in[at].data, collective),
              draft))
      return;
  } else if (out_blocks == 1) {
    std::fill(out.begin(), out.end(), in[static_cast<std::size_t>(own)]);
  }
  const bool gathers = collective == Collective::gather || collective == Collective::gatherv;
  if (gathers) out = only(own, out[static_cast<std::size_t>(own)], rank_info);
  draft.spec = collective::transfer_spec(rank_info, collective, call.root, bytes(*sides), out, in);
  in_place ? keep_in_place(std::move(sides), draft) : keep(std::move(sides), draft);
}

/// The root of a bcast, whose block all others read, and ranks of gather(v) that are not the root. `counts`:
/// all ranks know how long it is.
inline void make_only_out(const Part& part, int root, Entry& entry, Collective collective, Draft& draft,
                          bool counts) {
  const RankInfo rank_info = rank_info_of(entry);
  auto sides = std::make_shared<Sides<EqualBlocks, EqualBlocks>>();
  sides->has_out = true;
  if (fails(is_in_place(part.buffer) || !open(sides->out, part, 1, comm_for_packing(entry), draft), draft))
    return;
  std::vector<Block> out = blocks_of(sides->out, 1, rank_info);
  if (collective != Collective::bcast) out = only(root, out.front(), rank_info);
  draft.spec =
      collective::transfer_spec(rank_info, collective, root, counts ? sides->out.bytes() : 0, out, {});
  keep(std::move(sides), draft);
}

/// Ranks of scatter(v) and bcast that are not the root.
inline void make_only_in(const Part& part, int root, Entry& entry, Collective collective, Draft& draft,
                         bool counts) {
  const RankInfo rank_info = rank_info_of(entry);
  auto sides = std::make_shared<Sides<EqualBlocks, EqualBlocks>>();
  sides->has_in = true;
  if (fails(is_in_place(part.buffer) || !open(sides->in, part, 1, comm_for_packing(entry), draft), draft))
    return;
  const std::size_t bytes = sides->in.bytes();
  const auto in = only(root, {bytes > 0 ? sides->in.data() : nullptr, bytes}, rank_info);
  draft.spec = collective::transfer_spec(rank_info, collective, root, counts ? bytes : 0, {}, in);
  keep(std::move(sides), draft);
}

/// The root of scatter(v). In place: its own block stays where it is.
template <class Out, class Bytes>
void make_scattering_root(const Transfer& call, Entry& entry, Collective collective, Draft& draft,
                          Bytes bytes) {
  const RankInfo rank_info = rank_info_of(entry);
  const MPI_Comm comm = comm_for_packing(entry);
  auto sides = std::make_shared<Sides<Out, EqualBlocks>>();
  sides->has_out = true;
  if (fails(!open(sides->out, call.send, rank_info.size, comm, draft), draft)) return;
  const std::vector<Block> out = blocks_of(sides->out, rank_info.size, rank_info);
  const Block& own = out[static_cast<std::size_t>(call.root)];
  Block target = own;
  if (!is_in_place(call.receive.buffer)) {
    sides->has_in = true;
    if (fails(!open(sides->in, call.receive, 1, comm, draft) || sides->in.bytes() != own.bytes, draft))
      return;
    target.data = own.bytes > 0 ? sides->in.data() : nullptr;
    if (fails(is_alias_for_host(call, own.data, target.data, collective), draft)) return;
  }
  draft.spec = collective::transfer_spec(rank_info, collective, call.root, bytes(*sides), out,
                                         only(call.root, target, rank_info));
  keep(std::move(sides), draft);
}

inline bool is_root(const Transfer& call, const Entry& entry) {
  return entry.communicator->rank() == call.root;
}

inline constexpr auto unknown_to_others = [](const auto&) { return std::size_t{0}; };

}  // namespace espalier::mpi::persistent
