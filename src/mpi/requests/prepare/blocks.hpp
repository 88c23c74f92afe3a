// What the persistent collectives that move blocks make of their sides.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/by_rank.hpp"
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

/// Those that may have gaps are needed as long as the request; others only until its spec is made, which asks
/// for no memory then.
template <class Out, class In>
class SidesOfCall {
 public:
  explicit SidesOfCall(bool may_have_gaps) {
    if (may_have_gaps) [[unlikely]]
      kept_ = std::make_shared<Sides<Out, In>>();
    else
      here_.emplace();
  }
  Sides<Out, In>* operator->() { return kept_ ? kept_.get() : &*here_; }
  Sides<Out, In>& operator*() { return *operator->(); }
  /// Null: there are no gaps.
  std::shared_ptr<Sides<Out, In>> take_kept() { return std::move(kept_); }

 private:
  std::optional<Sides<Out, In>> here_;
  std::shared_ptr<Sides<Out, In>> kept_;
};

inline bool may_have_gaps(const Part& part) { return plain_size(part.type) == 0; }

/// A datatype with gaps is needed as long as the request, whatever the program does with it.
inline Part kept(const Part& part, Draft& draft) {
  if (!may_have_gaps(part)) return part;
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

/// A block for each rank.
class BlocksByRank {
 public:
  explicit BlocksByRank(const RankInfo& rank_info) : all_(static_cast<std::size_t>(rank_info.size)) {}
  Block& operator[](int rank) { return all_[static_cast<std::size_t>(rank)]; }
  std::span<const Block> span() const { return {all_.begin(), all_.size()}; }

  /// Where the block for, or from, each rank lies; the only one for all of them, where there is one.
  template <class Side>
  void find(Side& side, int blocks) {
    for (int rank = 0; rank < static_cast<int>(all_.size()); ++rank) {
      const int index = blocks == 1 ? 0 : rank;
      const std::size_t bytes = side.block_bytes(index);
      all_[static_cast<std::size_t>(rank)] = {bytes > 0 ? side.block(index) : nullptr, bytes};
    }
  }
  void fill(const Block& block) { std::fill(all_.begin(), all_.end(), block); }
  /// Of all ranks one alone has a block to send to, or to receive from.
  void fill_only(int rank, const Block& block) {
    fill({});
    (*this)[rank] = block;
  }

 private:
  ByRank<Block> all_;
};

inline MPI_Comm comm_for_packing(const Entry& entry) { return lasting(host.constants.self, entry); }

template <class Out, class In>
void keep(SidesOfCall<Out, In>& of_call, Draft& draft) {
  std::shared_ptr<Sides<Out, In>> sides = of_call.take_kept();
  if (!sides) return;
  Sides<Out, In>* both = sides.get();
  if (both->has_out && both->out.is_packed_apart()) draft.load = [both] { both->out.load(); };
  if (both->has_in && both->in.is_packed_apart()) draft.store = [both] { both->in.store(); };
  draft.sides = std::move(sides);
}

/// What is sent lies in the receive buffer, as MPI_IN_PLACE says: it is packed before each start.
template <class Out, class In>
void keep_in_place(SidesOfCall<Out, In>& of_call, Draft& draft) {
  std::shared_ptr<Sides<Out, In>> sides = of_call.take_kept();
  if (!sides) return;
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

inline void note_own_block(std::size_t sent, std::size_t taken, Draft& draft) { draft.own = {sent, taken}; }

/// Allgather, allgatherv, alltoall, alltoallv, and the roots of gather(v) and scatter(v). `out_blocks`,
/// `in_blocks`: of either side, one for each rank or one in all. `bytes(sides)`: by which rules choose.
template <class Out, class In, class Bytes>
void make_both(const Transfer& call, Entry& entry, Collective collective, int out_blocks, int in_blocks,
               Draft& draft, Bytes bytes) {
  const RankInfo rank_info = rank_info_of(entry);
  const MPI_Comm comm = comm_for_packing(entry);
  const bool in_place = is_in_place(call.send.buffer);
  SidesOfCall<Out, In> sides(may_have_gaps(call.receive) || (!in_place && may_have_gaps(call.send)));
  const int own = rank_info.rank;
  sides->has_in = true;
  if (fails(!open(sides->in, call.receive, in_blocks, comm, draft), draft)) return;
  BlocksByRank in(rank_info), out(rank_info);
  in.find(sides->in, in_blocks);
  if (!in_place) {
    sides->has_out = true;
    if (fails(!open(sides->out, call.send, out_blocks, comm, draft), draft)) return;
    out.find(sides->out, out_blocks);
    if (fails(is_alias_for_host(call, out[own].data, in[own].data, collective), draft)) return;
    note_own_block(out[own].bytes, in[own].bytes, draft);
  } else if (out_blocks == 1) {
    out.fill(in[own]);
  } else {
    out.find(sides->in, in_blocks);
  }
  const bool gathers = collective == Collective::gather || collective == Collective::gatherv;
  if (gathers) out.fill_only(own, Block(out[own]));
  draft.spec = collective::transfer_spec(rank_info, collective, call.root, bytes(*sides), out.span(),
                                         in.span(), std::move(draft.spec));
  in_place ? keep_in_place(sides, draft) : keep(sides, draft);
}

/// The root of a bcast, whose block all others read, and ranks of gather(v) that are not the root. `counts`:
/// all ranks know how long it is.
inline void make_only_out(const Part& part, int root, Entry& entry, Collective collective, Draft& draft,
                          bool counts) {
  const RankInfo rank_info = rank_info_of(entry);
  SidesOfCall<EqualBlocks, EqualBlocks> sides(may_have_gaps(part));
  sides->has_out = true;
  if (fails(is_in_place(part.buffer) || !open(sides->out, part, 1, comm_for_packing(entry), draft), draft))
    return;
  BlocksByRank out(rank_info);
  out.find(sides->out, 1);
  if (collective != Collective::bcast) out.fill_only(root, Block(out[root]));
  draft.spec = collective::transfer_spec(rank_info, collective, root, counts ? sides->out.bytes() : 0,
                                         out.span(), {}, std::move(draft.spec));
  keep(sides, draft);
}

/// Ranks of scatter(v) and bcast that are not the root.
inline void make_only_in(const Part& part, int root, Entry& entry, Collective collective, Draft& draft,
                         bool counts) {
  const RankInfo rank_info = rank_info_of(entry);
  SidesOfCall<EqualBlocks, EqualBlocks> sides(may_have_gaps(part));
  sides->has_in = true;
  if (fails(is_in_place(part.buffer) || !open(sides->in, part, 1, comm_for_packing(entry), draft), draft))
    return;
  const std::size_t bytes = sides->in.bytes();
  BlocksByRank in(rank_info);
  in.fill_only(root, {bytes > 0 ? sides->in.data() : nullptr, bytes});
  draft.spec = collective::transfer_spec(rank_info, collective, root, counts ? bytes : 0, {}, in.span(),
                                         std::move(draft.spec));
  keep(sides, draft);
}

/// The root of scatter(v). In place: its own block stays where it is.
template <class Out, class Bytes>
void make_scattering_root(const Transfer& call, Entry& entry, Collective collective, Draft& draft,
                          Bytes bytes) {
  const RankInfo rank_info = rank_info_of(entry);
  const MPI_Comm comm = comm_for_packing(entry);
  const bool in_place = is_in_place(call.receive.buffer);
  SidesOfCall<Out, EqualBlocks> sides(may_have_gaps(call.send) || (!in_place && may_have_gaps(call.receive)));
  sides->has_out = true;
  if (fails(!open(sides->out, call.send, rank_info.size, comm, draft), draft)) return;
  BlocksByRank out(rank_info), in(rank_info);
  out.find(sides->out, rank_info.size);
  const Block& own = out[call.root];
  Block target = own;
  if (!in_place) {
    sides->has_in = true;
    if (fails(!open(sides->in, call.receive, 1, comm, draft), draft)) return;
    target.bytes = sides->in.bytes();
    target.data = target.bytes > 0 ? sides->in.data() : nullptr;
    if (fails(is_alias_for_host(call, own.data, target.data, collective), draft)) return;
    note_own_block(own.bytes, target.bytes, draft);
  }
  in.fill_only(call.root, target);
  draft.spec = collective::transfer_spec(rank_info, collective, call.root, bytes(*sides), out.span(),
                                         in.span(), std::move(draft.spec));
  keep(sides, draft);
}

inline bool is_root(const Transfer& call, const Entry& entry) {
  return entry.communicator->rank() == call.root;
}

inline constexpr auto unknown_to_others = [](const auto&) { return std::size_t{0}; };

}  // namespace espalier::mpi::persistent
