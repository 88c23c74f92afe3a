// Nonblocking collectives of the kinds that programs call most, of plain blocks: what they do follows from a few words.
// Other ranks see no difference to a call with a spec's lists, which another rank may have for the same call.
#pragma once

#include <cstddef>

#include "base/collective.hpp"
#include "collective/schedule/given_data.hpp"
#include "collective/schedule/schedule.hpp"

namespace espalier::collective {

/// What a rank has for itself, without Keep's pieces: a brief call is copied a few times. No target: the rank folds it.
struct OwnBlock {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t bytes = 0;
};

/// Barrier, bcast, reduce, allreduce, allgather, gather or scatter of blocks of up to longest_brief_block(); gatherv and
/// scatterv on ranks that are not the root; on two ranks alltoall, scan and exscan, too, the v forms, and
/// reduce_scatter(_block) of blocks of one length. The rest is in the spec: collective, root, bytes, operation, and the fold's
/// operation on ranks that fold.
struct BriefCall {
  /// Of a rank that gives something: its vector or block, which all readers read; of the root of a scatter on more than two
  /// ranks: the blocks of all, in rank order.
  const std::byte* send = nullptr;
  /// Of a rank that gets something: where the vector or block of the rank that gives goes; on more than two ranks, of
  /// one that gets a block of each rank: where these go, in rank order.
  std::byte* receive = nullptr;
  std::size_t block = 0;  ///< bytes of each block, or of the vector
  OwnBlock keep{};        ///< copied when the call starts
  /// Of two ranks: bytes of the block that this one gives, where the block that it gets has another length; else 0.
  std::size_t other_given = 0;

  /// Bytes of each block that this rank gives.
  std::size_t given_block() const { return other_given > 0 ? other_given : block; }
};

/// The longest block of a brief call; 0: the collective has none. So short that each rank folds for itself.
inline std::size_t longest_brief_block(Collective collective, int ranks) {
  using enum Collective;
  constexpr std::size_t longest = 32 * 1024,
                        longest_one_way = 64 * 1024;  // in longer ones the copies alone count
  switch (collective) {
    case allreduce:
      return ranks == 2 ? longest : least_in_common - 1;
    case reduce:
      return is_folded_by_all(reduce, longest_one_way, static_cast<std::size_t>(ranks)) ? longest / 2
                                                                                        : longest_one_way;
    case allgather:
      return longest;
    case alltoall:
    case alltoallv:
    case allgatherv:
    case reduce_scatter:
    case reduce_scatter_block:
      return ranks == 2 ? longest : 0;
    case scan:
    case exscan:
      return ranks == 2 ? longest_one_way : 0;
    case scatter:
      return ranks == 2 ? longest_one_way : longest_one_way / static_cast<std::size_t>(ranks);
    default:
      return longest_one_way;
  }
}

/// An exscan has root 0: of two ranks it gives rank 1 what rank 0 has.
constexpr bool is_from_root(Collective collective) {
  using enum Collective;
  constexpr CollectiveSet from_root = {bcast, scatter, scatterv, exscan};
  return from_root.contains(collective);
}
constexpr bool is_to_root(Collective collective) {
  using enum Collective;
  constexpr CollectiveSet to_root = {reduce, gather, gatherv};
  return to_root.contains(collective);
}

/// Of a collective whose ranks all have blocks of one length, from the buffers that MPI names: those of all ranks lie one
/// behind the other. Where a collective has one vector or block in all, `send` and `receive` are that.
inline BriefCall brief_of_equal_blocks(Collective collective, int root, const RankInfo& rank_info,
                                       const std::byte* send, std::byte* receive, std::size_t block) {
  using enum Collective;
  const bool is_pair = rank_info.size == 2;
  const std::size_t own = static_cast<std::size_t>(rank_info.rank) * block;
  const std::size_t first = is_pair ? block - own : 0;  // of two ranks: the other's
  const bool is_root = rank_info.rank == root;
  if (collective == allgather || (collective == gather && is_root))
    return {send, receive + first, block, {send, receive + own, block}};
  if (collective == alltoall)
    return {send + first, receive + first, block, {send + own, receive + own, block}};
  if (collective == reduce_scatter || collective == reduce_scatter_block)
    return {send + first, receive, block, {send + own}};
  if (collective == scatter && is_root) return {send + first, nullptr, block, {send + own, receive, block}};
  if (collective == scan && rank_info.rank == 0) return {send, receive, block, {send, receive, block}};
  return {send, receive, block};
}

/// Whether others need this rank's bytes.
inline bool gives_in_brief(const PersistentSpec& spec, int rank) {
  if (is_from_root(spec.collective)) return rank == spec.root;
  if (is_to_root(spec.collective)) return rank != spec.root;
  if (spec.collective == Collective::scan) return rank == 0;
  return spec.collective != Collective::barrier;
}

/// Whether this rank hears from all others before it is done.
inline bool hears_all_in_brief(const PersistentSpec& spec, int rank) {
  if (is_to_root(spec.collective)) return rank == spec.root;
  if (spec.collective == Collective::scan) return rank == 1;
  return !is_from_root(spec.collective);
}

/// All bytes that this rank gives.
inline std::size_t given_in_brief(const PersistentSpec& spec, const BriefCall& brief,
                                  const RankInfo& rank_info) {
  if (!gives_in_brief(spec, rank_info.rank)) return 0;
  const auto ranks = static_cast<std::size_t>(rank_info.size);
  return has_table(spec, rank_info.size) ? brief.given_block() * ranks : brief.given_block();
}

/// As exchanges_buffer(), of calls that need buffers.
inline bool exchanges_in_brief(const PersistentSpec& spec, const BriefCall& brief, int ranks) {
  return ranks == 2 && !goes_one_way(spec.collective) && brief.other_given == 0;
}

/// As buffer_length(). The spec says how much is given.
inline BufferLength brief_buffer_length(const PersistentSpec& spec, const BriefCall& brief, int ranks) {
  const std::size_t given = spec.given_bytes;
  if (rides_in_line(spec, ranks)) return {};
  if (exchanges_in_brief(spec, brief, ranks)) return {exchanged_bytes(given), true};
  return {buffer_parts(spec, ranks, given).end};
}

/// The vector of this rank, or its part of it, that it folds.
inline const std::byte* folded_own(const BriefCall& brief) {
  return brief.keep.source ? brief.keep.source : brief.send;
}

/// Where the block of `peer` goes on a rank that gets one of each.
inline std::byte* brief_target(const BriefCall& brief, int peer, int ranks) {
  return ranks == 2 ? brief.receive : brief.receive + static_cast<std::size_t>(peer) * brief.block;
}

namespace detail {

template <Machine M>
void write_brief_table(M& m, const BriefCall& brief, std::byte* table) {
  for (int rank = 0; rank < m.size(); ++rank, table += sizeof(PersistentSpec::Place)) {
    const PersistentSpec::Place place{static_cast<std::size_t>(rank) * brief.block, brief.block};
    m.copy(table, &place, sizeof place);
  }
}

template <Machine M>
void give_brief_in_buffer(M& m, const PersistentSpec& spec, const BriefCall& brief, const Giving& giving,
                          std::byte* base, const Room& room, int longest_log2_chunk) {
  const std::size_t given = spec.given_bytes;
  Notice notice = notice_of(giving, given);
  notice.buffer = Notice::place_of(room.data, room.is_own, base);
  if (!room.is_own) {
    if (exchanges_in_brief(spec, brief, m.size())) notice.buffer |= Notice::exchanged;
    notice.log2_chunk = chunks_of_given(spec.collective, given, longest_log2_chunk);
  }
  std::byte* data = room.data + BufferParts::table;
  if (has_table(spec, m.size())) {
    write_brief_table(m, brief, data);
    data = room.data + buffer_parts(spec, m.size(), given).data;
  }
  if (notice.log2_chunk != 0) clear_lines(m, room.data);
  const Give all[] = {{brief.send, 0, given, 0}};
  give_noticed(m, all, giving, notice, room.data, data);
}

}  // namespace detail

/// As give_data().
template <Machine M>
void give_brief(M& m, const PersistentSpec& spec, const BriefCall& brief, const Giving& giving,
                std::byte* base, const Room& room, int longest_log2_chunk) {
  if (room.data) {
    detail::give_brief_in_buffer(m, spec, brief, giving, base, room, longest_log2_chunk);
  } else {
    const std::size_t given = spec.given_bytes;
    std::byte* data = m.payload_at(giving.line) + sizeof(Notice);
    if (given > 0 && has_table(spec, m.size())) {
      detail::write_brief_table(m, brief, data);
      data += table_bytes(spec, m.size());
    }
    if (given > 0) m.copy(data, brief.send, given);
    detail::publish(m, giving, notice_of(giving, given));
  }
  if (brief.keep.bytes > 0) m.copy(brief.keep.target, brief.keep.source, brief.keep.bytes);
}

}  // namespace espalier::collective
