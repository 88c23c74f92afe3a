// Every rank shows a block to all others, in its slot, chunk by chunk, and copies theirs out.
#pragma once

#include "collective/core/inline_exchange.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/rounds.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M, class Own, class B, class Keep>
[[gnu::flatten]] void exchange_blocks_inline(M& m, const Own& own, void* receive, const B& blocks,
                                             const Plan& plan, const Keep& keep) {
  const std::size_t bytes = blocks.bytes_of(m.rank());
  InlineExchange<M> exchange(m, plan);
  copy_part(m, exchange.own_line(), own, Part{0, bytes});
  exchange.announce(m.other_ranks());
  keep(0, Part{0, bytes});
  bool heard_from_all = true;
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    if (const std::size_t theirs = blocks.bytes_of(peer); theirs > 0)
      take_part(m, block_of(receive, blocks, peer), Part{0, theirs}, exchange.line_of(peer));
    else
      heard_from_all = false;
  }
  exchange.finish(heard_from_all);
}

}  // namespace detail

/// `meeting`: of which await() may shorten `blocks` if it may_shorten.
template <Machine M, class Own, class B, class Keep, class Meet>
[[gnu::flatten]] void exchange_blocks_in_slots(M& m, const Own& own, void* receive, const B& blocks,
                                               const Plan& plan, const Keep& keep, Meet meeting) {
  const std::size_t longest = largest_of(blocks, m.size());
  const bool can_pair = worth_pairwise(m, smallest_of(blocks, m.size()), longest);
  const Chunks chunks(m, longest, round_bytes(m, plan, can_pair), 1);
  const auto part = [&](int rank, const Round& round) {
    return part_of(blocks.bytes_of(rank), round.index, chunks.chunk_bytes());
  };

  const Rounds rounds = {.count = chunks.count(),
                         .span = chunks.span(),
                         .bytes = chunks.chunk_bytes(),
                         .overlap = !meeting.is_central(),
                         .readers = m.other_ranks(),
                         .can_pair = can_pair,
                         .likely_again = meeting.is_central() ? 0 : longest};
  const bool pairwise = uses_pairwise_slots(m, rounds);

  const auto show = [&](const Round& round) {
    const Part mine = part(m.rank(), round);
    if (mine.bytes == 0) return meeting.announce_nothing(round.step());
    std::byte* slot = m.slot(m.rank(), round.steps);
    const std::size_t comes_back = pairwise ? part(1 - m.rank(), round).bytes : 0;
    show_part(m, slot, own, mine, comes_back, round.read_next);
    m.flush_for_readers(slot, mine.bytes);
    meeting.announce(round.step());
  };

  // Each starts behind itself, so that not all read the same slot.
  const auto read = [&](const Round& round) {
    bool all = true;
    keep(round.index, part(m.rank(), round));
    for (int i = 1; i < m.size(); ++i) {
      const int peer = rank_behind(m, i);
      const Part theirs = part(peer, round);
      if (theirs.bytes == 0) {
        all = meeting.is_central();
        continue;
      }
      meeting.await(peer, round.step());
      take_part(m, block_of(receive, blocks, peer), Meet::may_shorten ? part(peer, round) : theirs,
                m.slot(peer, round.steps));
    }
    return all;
  };

  in_rounds(m, rounds, show, read);
}

/// `own`: what this rank shows, an address or a block of pieces. All ranks know how long all blocks are; the longest decides how many rounds
/// there are. `keep(round, part)` does in each round what this rank does with a part of its own block, if
/// anything: while others still copy theirs into their slots.
template <Machine M, class Own, class B, class Keep>
[[gnu::flatten]] void exchange_blocks(M& m, const Own& own, void* receive, const B& blocks, const Plan& plan,
                                      const Keep& keep) {
  if (rides_inline(largest_of(blocks, m.size()), plan))
    return detail::exchange_blocks_inline(m, own, receive, blocks, plan, keep);
  exchange_blocks_in_slots(m, own, receive, blocks, plan, keep, Meeting<M>(m, plan));
}

}  // namespace espalier::collective
