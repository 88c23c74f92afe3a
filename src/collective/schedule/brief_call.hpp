// Nonblocking collectives of the kinds that programs call most, of plain blocks: what they do follows from a few words.
// Other ranks see no difference to a call with a spec's lists, which another rank may have for the same call.
#pragma once

#include <cstddef>

#include "base/collective.hpp"
#include "collective/schedule/given_data.hpp"

namespace espalier::collective {

/// Barrier, bcast, reduce, allreduce, allgather or alltoall, not in place, of blocks of up to longest_brief_block(). The
/// rest is in the spec: collective, root, bytes, operation, and the fold's operation on ranks that fold.
struct BriefCall {
  const std::byte* send = nullptr;  ///< of a rank that gives something
  std::byte* receive = nullptr;     ///< of a rank that gets something
};

/// The longest block of a brief call; 0: the collective has none. So short that a call with lists would give it in one
/// chunk, without a table of places, and that each rank would fold for itself.
inline std::size_t longest_brief_block(Collective collective, int ranks) {
  using enum Collective;
  constexpr std::size_t longest = 32 * 1024;  // in longer ones the copies alone count
  switch (collective) {
    case allreduce:
      return ranks == 2 ? longest : least_in_common - 1;
    case allgather:
      return longest;
    case alltoall:
      return ranks == 2 ? longest : 0;
    default:
      return longest / 4;
  }
}

/// What each rank that gives something gives to each reader.
inline std::size_t brief_block(const PersistentSpec& spec, int ranks) {
  return spec.collective == Collective::alltoall ? spec.bytes / static_cast<std::size_t>(ranks) : spec.bytes;
}

/// Whether others need this rank's bytes.
inline bool gives_in_brief(const PersistentSpec& spec, int rank) {
  switch (spec.collective) {
    case Collective::barrier:
      return false;
    case Collective::bcast:
      return rank == spec.root;
    case Collective::reduce:
      return rank != spec.root;
    default:
      return true;
  }
}

/// As exchanges_buffer(), of calls that need buffers.
inline bool exchanges_in_brief(const PersistentSpec& spec, int ranks) {
  return ranks == 2 && !goes_one_way(spec.collective);
}

/// Of this rank's buffer for such a call.
inline BufferLength brief_buffer_length(const PersistentSpec& spec, const RankInfo& rank_info) {
  const std::size_t block = brief_block(spec, rank_info.size);
  if (block <= line_capacity || !gives_in_brief(spec, rank_info.rank)) return {};
  if (exchanges_in_brief(spec, rank_info.size)) return {exchanged_bytes(block), true};
  return {buffer_parts(spec, rank_info.size, block).end};
}

/// Whether this rank hears from all others before it is done.
inline bool hears_all_in_brief(const PersistentSpec& spec, int rank) {
  return spec.collective != Collective::bcast && (spec.collective != Collective::reduce || rank == spec.root);
}

/// As give_data().
template <Machine M>
void give_brief(M& m, const PersistentSpec& spec, const BriefCall& brief, const Giving& giving,
                std::byte* base, const Room& room) {
  const std::size_t block = brief_block(spec, m.size());
  const bool is_alltoall = spec.collective == Collective::alltoall;
  const bool gives = gives_in_brief(spec, m.rank());
  const auto own = static_cast<std::size_t>(m.rank()) * block;
  const std::byte* const given =
      brief.send + (is_alltoall ? block - own : 0);  // of two ranks: to the other one
  Notice notice;
  notice.bytes = gives ? block : 0;
  notice.say_finished(giving.number, giving.finished);
  if (room.data) {
    const bool is_exchanged = !room.is_own && exchanges_in_brief(spec, m.size());
    notice.buffer = Notice::place_of(room.data, room.is_own, base) | (is_exchanged ? Notice::exchanged : 0);
    show_pairwise(m, room.data + BufferParts::table, given, block, is_exchanged ? block : 0);
    m.flush_for_readers(room.data + BufferParts::table, block);
  } else if (gives) {
    m.copy(m.payload_at(giving.line) + sizeof notice, given, block);
  }
  detail::write_notice(m, giving.line, notice);
  m.signal_at(giving.line, giving.number);
  if (spec.collective == Collective::allgather) m.copy(brief.receive + own, brief.send, block);
  if (is_alltoall) m.copy(brief.receive + own, brief.send + own, block);
}

}  // namespace espalier::collective
