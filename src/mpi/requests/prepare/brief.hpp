// Which nonblocking calls are brief ones (collective/schedule/brief_call.hpp): a look at their arguments, and
// nothing else. What is not plain goes the usual way. Each function says whether the draft is made.
#pragma once

#include <span>

#include "mpi/collectives/reduction_arguments.hpp"
#include "mpi/datatype/staging.hpp"
#include "mpi/requests/prepare/rank_info.hpp"
#include "runtime/progress/only_thread.hpp"

namespace espalier::mpi::persistent {

/// A block of a plain type; no bytes: it is of another type, in place, or empty.
inline collective::Block plain_block(const void* buffer, std::int64_t displacement, std::int64_t count,
                                     Handle type) {
  const std::size_t size = plain_size(type);
  if (size == 0 || !is_plain_buffer(buffer) || !is_plain_number(count) || !is_plain_number(displacement))
    return {};
  return {static_cast<std::byte*>(const_cast<void*>(buffer)) + static_cast<std::size_t>(displacement) * size,
          static_cast<std::size_t>(count) * size};
}
/// Of a side with a block in all, or with blocks of one length: the first one.
inline collective::Block plain_block(const Part& part) {
  return plain_block(part.buffer, 0, part.count, part.type);
}
/// Of a side with blocks of any lengths.
inline collective::Block plain_block_of(const Part& part, int rank) {
  if (!is_plain_buffer(part.buffer)) return {};  // in place, counts may be a null pointer
  return plain_block(part.buffer, part.displacements[rank], part.counts[rank], part.type);
}

inline bool is_brief_length(std::size_t bytes, Collective collective, int ranks) {
  return bytes > 0 && bytes <= collective::longest_brief_block(collective, ranks);
}

inline bool is_brief_bcast(const Call& call, Entry& entry, Draft& draft) {
  if (!draft.may_be_brief) return false;
  const auto [data, bytes] = plain_block(call.receive, 0, call.count, call.type);
  if (!is_brief_length(bytes, Collective::bcast, rank_info_of(entry).size)) return false;
  draft.be_brief(bytes, {data, data, bytes}, nullptr, false);
  return true;
}

/// Allgather, gather, scatter, and alltoall on two ranks. `bytes_of(block)`: of a block of so many bytes, by which rules
/// choose. A side that is not significant on this rank may hold anything.
template <class BytesOf>
bool is_brief_transfer(const Transfer& call, Collective collective, Entry& entry, Draft& draft,
                       BytesOf bytes_of) {
  if (!draft.may_be_brief) return false;
  const collective::RankInfo self = rank_info_of(entry);
  const bool is_root = self.rank == call.root;
  const bool sends = collective != Collective::scatter || is_root;
  const bool receives = collective != Collective::gather || is_root;
  const collective::Block out = sends ? plain_block(call.send) : collective::Block();
  const collective::Block in = receives ? plain_block(call.receive) : out;
  const std::size_t block = in.bytes;
  if (!is_brief_length(block, collective, self.size) || (sends && out.bytes != block)) return false;
  const collective::BriefCall brief =
      brief_of_equal_blocks(collective, call.root, self, out.data, receives ? in.data : nullptr, block);
  if (brief.keep.bytes > 0 && brief.keep.source == brief.keep.target) return false;  // in place, or an error
  draft.be_brief(bytes_of(block), brief, nullptr, false);
  return true;
}

inline std::size_t one_block(std::size_t bytes) { return bytes; }

/// Of two ranks: `out` goes to the other one, `in` comes from it, and `own_out` goes to `own_in`. A rank that has no block for
/// itself names none. `bytes`: by which rules choose.
inline bool is_brief_pair(Collective collective, const collective::Block& out, const collective::Block& in,
                          const collective::Block& own_out, const collective::Block& own_in,
                          std::size_t bytes, Draft& draft) {
  const std::size_t longer = std::max(out.bytes, in.bytes);
  const bool has_both = out.bytes > 0 && in.bytes > 0;
  const bool has_two_lengths = has_both && out.bytes != in.bytes;
  const bool has_own = own_out.data || own_in.data;
  const bool is_own_plain = own_out.bytes == own_in.bytes && own_in.bytes > 0 && own_out.data != own_in.data;
  if (!is_brief_length(longer, collective, 2) || (has_own && !is_own_plain)) return false;
  draft.be_brief(bytes,
                 {.send = out.data,
                  .receive = in.data,
                  .block = has_both ? in.bytes : longer,
                  .keep = {own_out.data, own_in.data, own_in.bytes},
                  .other_given = has_two_lengths ? out.bytes : 0},
                 nullptr, false);
  return true;
}

inline bool is_of_two(const Entry& entry, const Draft& draft) {
  return draft.may_be_brief && rank_info_of(entry).size == 2;
}

/// Of a gatherv or scatterv, on a rank that is not the root: its block. Among more than two ranks the root has lists.
inline bool is_brief_beside_root(Collective collective, const Part& part, Entry& entry, Draft& draft) {
  const auto [data, bytes] = plain_block(part);
  if (!draft.may_be_brief || !is_brief_length(bytes, collective, rank_info_of(entry).size)) return false;
  const bool gives = collective == Collective::gatherv;
  draft.be_brief(0, {gives ? data : nullptr, gives ? nullptr : data, bytes}, nullptr, false);
  return true;
}

inline bool is_brief_gatherv(const Transfer& call, Entry& entry, Draft& draft) {
  const int rank = rank_info_of(entry).rank;
  if (rank != call.root) return is_brief_beside_root(Collective::gatherv, call.send, entry, draft);
  if (!is_of_two(entry, draft)) return false;
  const collective::Block send = plain_block(call.send);
  const collective::Block other = plain_block_of(call.receive, 1 - rank);
  return is_brief_pair(Collective::gatherv, {}, other, send, plain_block_of(call.receive, rank), 0, draft);
}

inline bool is_brief_scatterv(const Transfer& call, Entry& entry, Draft& draft) {
  const int rank = rank_info_of(entry).rank;
  if (rank != call.root) return is_brief_beside_root(Collective::scatterv, call.receive, entry, draft);
  if (!is_of_two(entry, draft)) return false;
  const collective::Block receive = plain_block(call.receive);
  const collective::Block other = plain_block_of(call.send, 1 - rank);
  return is_brief_pair(Collective::scatterv, other, {}, plain_block_of(call.send, rank), receive, 0, draft);
}

inline bool is_brief_allgatherv(const Transfer& call, Entry& entry, Draft& draft) {
  if (!is_of_two(entry, draft)) return false;
  const int rank = rank_info_of(entry).rank;
  const collective::Block send = plain_block(call.send), other = plain_block_of(call.receive, 1 - rank);
  if (send.bytes == 0 || other.bytes == 0) return false;
  return is_brief_pair(Collective::allgatherv, send, other, send, plain_block_of(call.receive, rank),
                       (send.bytes + other.bytes) / 2, draft);
}

inline bool is_brief_alltoallv(const Transfer& call, Entry& entry, Draft& draft) {
  if (!is_of_two(entry, draft) || call.send.buffer == call.receive.buffer) return false;
  const int rank = rank_info_of(entry).rank;
  const collective::Block out = plain_block_of(call.send, 1 - rank),
                          in = plain_block_of(call.receive, 1 - rank);
  if (out.bytes == 0 || in.bytes == 0) return false;
  return is_brief_pair(Collective::alltoallv, out, in, plain_block_of(call.send, rank),
                       plain_block_of(call.receive, rank), 0, draft);
}

/// Of vectors, or blocks of them, of `count` elements. `blocks`: so many are in a vector.
inline bool is_brief_fold(const Call& call, Collective collective, MPI_Count count, std::size_t blocks,
                          bool is_target, Entry& entry, Draft& draft) {
  if (!draft.may_be_brief || is_in_place(call.send) || !plain_buffers(call, is_target) ||
      call.send == call.receive)
    return false;
  std::size_t block = 0;
  const reduce::Operation* operation = runtime::OnlyThread::exists()
                                           ? kernel(entry, call, count, block)  // finds it sooner
                                           : kernel(call, count, block);
  if (!operation || operation->at_once || !is_brief_length(block, collective, rank_info_of(entry).size))
    return false;
  const collective::BriefCall brief = brief_of_equal_blocks(collective, call.root, rank_info_of(entry),
                                                            static_cast<const std::byte*>(call.send),
                                                            static_cast<std::byte*>(call.receive), block);
  draft.be_brief(blocks * block, brief, operation, is_target);
  return true;
}

/// Reduce and allreduce, on two ranks scan and exscan.
inline bool is_brief_reduction(const Call& call, Collective collective, bool is_target, Entry& entry,
                               Draft& draft) {
  return is_brief_fold(call, collective, call.count, 1, is_target, entry, draft);
}

/// Reduce_scatter(_block). `counts`: the elements that each rank gets.
inline bool is_brief_scattered(const Call& call, Collective collective, std::span<const std::size_t> counts,
                               Entry& entry, Draft& draft) {
  return is_of_two(entry, draft) && counts[0] == counts[1] &&
         is_brief_fold(call, collective, static_cast<MPI_Count>(counts[0]), counts.size(), true, entry,
                       draft);
}

}  // namespace espalier::mpi::persistent
