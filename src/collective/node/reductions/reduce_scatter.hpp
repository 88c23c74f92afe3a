// Reduce_scatter: every rank's slot holds the parts of its vector that are the others', and each folds its
// own block out of all slots, straight into its receive buffer, in rank order.
#pragma once

#include "collective/core/cells.hpp"
#include "collective/core/chunk_copies.hpp"
#include "collective/core/fold.hpp"
#include "collective/core/inline_exchange.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/pairwise_cells.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M, class B>
[[gnu::flatten]] void reduce_scatter_inline(M& m, const Reduction& r, const B& blocks, const Plan& plan) {
  const OwnPlace own(blocks, m.rank());
  const std::size_t bytes = blocks.bytes_of(m.rank());
  InlineExchange<M> exchange(m, plan);
  write_others(m, exchange.own_line(), r.send, blocks);
  exchange.announce(m.other_ranks());
  if (bytes > 0) {
    for (const int peer : m.other_ranks())
      m.source_array()[peer] = exchange.line_of(peer) + own.in_data_of(peer);
    fold_in_rank_order(m, r, r.receive, at(r.send, blocks.offset_of(m.rank())), bytes);
  }
  exchange.finish(bytes > 0);
}

template <Machine M, class B>
void reduce_scatter_by_pairwise_cells(M& m, const Reduction& r, const B& blocks, const PairwiseCells& cells,
                                      Meeting<M>& meeting) {
  const auto show = [&](const Round& round) {
    write_pairwise_cells(m, r.send, blocks, EqualBlocks{blocks.bytes_of(m.rank())}, cells, round);
    meeting.announce(round.step());
  };
  const auto read = [&](const Round& round) {
    const Part part = cells.part(blocks.bytes_of(m.rank()), round.index);
    if (part.bytes == 0) return true;
    const void* own = at(r.send, blocks.offset_of(m.rank()) + part.offset);
    for (const int peer : m.other_ranks())
      m.source_array()[peer] = begin_reading(m, m.pairwise_cell(peer, m.rank(), round.steps), part.bytes);
    fold_in_rank_order(m, r, at(r.receive, part.offset), own, part.bytes);
    return true;
  };
  in_rounds(m, rounds_in_pairwise_cells(m, cells.rounds()), show, read);
}

}  // namespace detail

/// `blocks` of the vector r.send, one for each rank. The result may lie on the start of the vector when all
/// blocks are of one size: what a round overwrites was copied into the slots in that round or before.
template <Machine M, class B>
void reduce_scatter(M& m, const Reduction& r, const B& blocks, const Plan& plan) {
  const auto others = static_cast<std::size_t>(m.size() - 1);
  const std::size_t smallest = smallest_of(blocks, m.size());
  const std::size_t largest = largest_of(blocks, m.size());
  if (rides_inline(r.bytes - smallest, plan)) return detail::reduce_scatter_inline(m, r, blocks, plan);
  const bool can_pair = worth_pairwise(m, smallest, largest);
  const Cells cells(m, round_bytes(m, plan, can_pair), others, r.bytes - smallest, r.operation.extent);
  const OwnPlace own_cell(CellSizes<B>{blocks, cells}, m.rank());
  Meeting<M> meeting(m, plan);
  if (const PairwiseCells pairwise(m, meeting, largest, r.operation.extent);
      pairwise.serve(smallest, cells.rounds()))
    return detail::reduce_scatter_by_pairwise_cells(m, r, blocks, pairwise, meeting);

  const Rounds rounds = rounds_of(m, cells, meeting, can_pair);
  const bool has_pairwise = uses_pairwise_slots(m, rounds);
  const auto show = [&](const Round& round) {
    std::byte* data = m.slot(m.rank(), round.steps);
    const std::size_t comes_back =
        has_pairwise ? cells.part(blocks.bytes_of(m.rank()), round.index).bytes : 0;
    const std::size_t written = write_cells(m, data, r.send, blocks, cells, round, comes_back);
    m.flush_for_readers(data, written);
    meeting.announce(round.step());
  };

  const auto read = [&](const Round& round) {
    const Part part = cells.part(blocks.bytes_of(m.rank()), round.index);
    if (part.bytes == 0) return meeting.is_central();
    const void* own = at(r.send, blocks.offset_of(m.rank()) + part.offset);
    for (const int peer : m.other_ranks()) {
      meeting.await(peer, round.step());
      const std::byte* theirs = m.slot(peer, round.steps) + own_cell.in_data_of(peer);
      m.source_array()[peer] = begin_reading(m, theirs, part.bytes);
    }
    detail::fold_in_rank_order(m, r, at(r.receive, part.offset), own, part.bytes);
    return true;
  };

  in_rounds(m, rounds, show, read);
}

}  // namespace espalier::collective
