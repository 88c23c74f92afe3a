// Allgather and allgatherv: every rank shows its block in its slot, chunk by chunk, and copies all others'
// out. Or each reads long blocks where they lie.
#pragma once

#include "collective/exchange_single_copy.hpp"
#include "collective/meeting.hpp"
#include "collective/rounds.hpp"

namespace espalier::collective {

/// `own`: this rank's block, which may be in its place in `receive` already. All ranks know all blocks; the
/// longest decides how many rounds there are.
template <Machine M, class B>
void allgather(M& m, const void* own, void* receive, const B& blocks, const Plan& plan) {
  const std::size_t longest = largest_of(blocks, m.size());
  if (by_kernel(plan) && is_lent(longest, plan) && allgather_single_copy(m, own, receive, blocks, plan))
    return;
  const bool inlined = rides_inline(longest, plan);
  const bool even = is_even(smallest_of(blocks, m.size()), longest);
  const Chunks chunks(m, longest, round_bytes(m, plan, even), 1);
  Meeting<M> meeting(m, plan);
  const auto part = [&](int rank, const Round& round) {
    return part_of(blocks.bytes_of(rank), round.index, chunks.chunk_bytes());
  };

  const auto show = [&](const Round& round) {
    const Part mine = part(m.rank(), round);
    if (mine.bytes == 0) return meeting.announce_nothing(round.step());
    if (inlined) return meeting.announce_inline(round.step(), at(own, mine.offset), mine.bytes);
    std::byte* slot = m.slot(m.rank(), round.first);
    m.show(slot, at(own, mine.offset), mine.bytes);
    m.hand_over(slot, mine.bytes);
    meeting.announce(round.step());
  };

  // Each starts behind itself, so that not all read the same slot.
  const auto read = [&](const Round& round) {
    bool all = true;
    copy_own(m, at(receive, blocks.offset_of(m.rank())), own, part(m.rank(), round));
    for (int i = 1; i < m.size(); ++i) {
      const int peer = rank_behind(m, i);
      const Part theirs = part(peer, round);
      if (theirs.bytes == 0) {
        all = meeting.is_central();
        continue;
      }
      meeting.await(peer, round.step());
      m.copy(at(receive, blocks.offset_of(peer) + theirs.offset),
             inlined ? m.inline_data(Channel::gather, peer, round.step()) : m.slot(peer, round.first),
             theirs.bytes);
    }
    return all;
  };

  const Rounds rounds = {.count = chunks.count(),
                         .span = chunks.span(),
                         .bytes = chunks.chunk_bytes(),
                         .overlap = !meeting.is_central(),
                         .readers = m.everybody_else(),
                         .even = even && !inlined};
  in_rounds(m, rounds, show, read);
  if (!meeting.is_central()) expect_another(m, longest, chunks.chunk_bytes());
}

}  // namespace espalier::collective
