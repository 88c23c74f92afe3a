// Alltoall: every rank's slot holds a piece for each of the others, and each reads its own out of all of
// them. Long blocks can also be read where they lie.
#pragma once

#include "collective/core/cells.hpp"
#include "collective/core/chunk_copies.hpp"
#include "collective/core/inline_exchange.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/pairwise_cells.hpp"
#include "collective/node/all_to_all/alltoall_of_two.hpp"
#include "collective/node/all_to_all/exchange_single_copy.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M>
[[gnu::flatten]] void alltoall_inline(M& m, const void* send, void* receive, const EqualBlocks& blocks,
                                      const Plan& plan) {
  const OwnPlace own(blocks, m.rank());
  InlineExchange<M> exchange(m, plan);
  write_others(m, exchange.own_line(), send, blocks);
  exchange.announce(m.other_ranks());
  const std::size_t own_place = blocks.offset_of(m.rank());
  copy_own(m, at(receive, own_place), at(send, own_place), Part{0, blocks.block});
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    m.copy(at(receive, blocks.offset_of(peer)), exchange.line_of(peer) + own.in_data_of(peer), blocks.block);
  }
  exchange.finish(true);
}

template <Machine M>
void alltoall_by_pairwise_cells(M& m, const void* send, void* receive, const EqualBlocks& blocks,
                                const PairwiseCells& cells, Meeting<M>& meeting) {
  const auto show = [&](const Round& round) {
    write_pairwise_cells(m, send, blocks, blocks, cells, round);
    meeting.announce(round.step());
  };
  const auto read = [&](const Round& round) {
    const Part part = cells.part(blocks.block, round.index);
    const std::size_t own_place = blocks.offset_of(m.rank());
    copy_own(m, at(receive, own_place), at(send, own_place), part);
    for (int i = 1; i < m.size(); ++i) {
      const int peer = rank_behind(m, i);
      const std::byte* data = begin_reading(m, m.pairwise_cell(peer, m.rank(), round.steps), part.bytes);
      m.copy(at(receive, blocks.offset_of(peer) + part.offset), data, part.bytes);
    }
    return true;
  };
  in_rounds(m, rounds_in_pairwise_cells(m, cells.rounds()), show, read);
}

}  // namespace detail

/// `bytes` for each rank. `send` may be `receive`: the parts that a round sends are copied out of the buffer
/// before those that it receives take their place.
template <Machine M>
void alltoall(M& m, const void* send, void* receive, std::size_t bytes, const Plan& plan) {
  if (by_kernel(plan) && is_exposed(bytes, plan) && alltoall_single_copy(m, send, receive, bytes, plan))
    return;
  const EqualBlocks blocks{bytes};
  if (are_two(m, plan)) return alltoall_of_two(m, send, blocks, receive, blocks, plan);
  const auto others = static_cast<std::size_t>(m.size() - 1);
  if (rides_inline(others * bytes, plan)) return detail::alltoall_inline(m, send, receive, blocks, plan);
  const Cells cells(m, plan.chunk, others, others * bytes);
  const OwnPlace own_cell(CellSizes<EqualBlocks>{blocks, cells}, m.rank());
  Meeting<M> meeting(m, plan);
  if (const PairwiseCells pairwise(m, meeting, bytes); pairwise.serve(bytes, cells.rounds()))
    return detail::alltoall_by_pairwise_cells(m, send, receive, blocks, pairwise, meeting);

  const auto show = [&](const Round& round) {
    std::byte* data = m.slot(m.rank(), round.steps);
    if (cells.rounds() == 1 &&
        cells.cell(bytes) == bytes) {  // no gaps: the blocks of lower ranks, then those of higher ones
      const std::size_t below = blocks.offset_of(m.rank());
      m.write_slot(data, send, below);
      m.write_slot(data + below, at(send, below + bytes), others * bytes - below);
    } else {
      write_cells(m, data, send, blocks, cells, round);
    }
    m.flush_for_readers(data, cells.bytes());
    meeting.announce(round.step());
  };

  const auto read = [&](const Round& round) {
    const Part part = cells.part(bytes, round.index);
    const std::size_t own_place = blocks.offset_of(m.rank());
    copy_own(m, at(receive, own_place), at(send, own_place), part);
    for (int i = 1; i < m.size(); ++i) {
      const int peer = rank_behind(m, i);
      meeting.await(peer, round.step());
      const std::byte* data =
          begin_reading(m, m.slot(peer, round.steps) + own_cell.in_data_of(peer), part.bytes);
      m.copy(at(receive, blocks.offset_of(peer) + part.offset), data, part.bytes);
    }
    return true;
  };

  in_rounds(m, rounds_of(m, cells, meeting, false), show, read);
}

}  // namespace espalier::collective
