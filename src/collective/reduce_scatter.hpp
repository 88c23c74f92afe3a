// Reduce_scatter: every rank's slot holds the parts of its vector that are the others', and each folds its
// own block out of all slots, straight into its receive buffer, in rank order.
#pragma once

#include "collective/cells.hpp"
#include "collective/meeting.hpp"
#include "collective/reduce.hpp"
#include "collective/traded_cells.hpp"

namespace espalier::collective {

namespace detail {

template <Machine M, class B>
void reduce_scatter_by_traded_cells(M& m, const Reduction& r, const B& blocks, const TradedCells& cells,
                                    Meeting<M>& meeting) {
  const auto show = [&](const Round& round) {
    write_traded_cells(m, r.send, blocks, cells, round);
    meeting.announce(round.step());
  };
  const auto read = [&](const Round& round) {
    const Part part = cells.part(blocks.bytes_of(m.rank()), round.index);
    if (part.bytes == 0) return true;
    const void** sources = m.source_array();
    for (int peer = 0; peer < m.size(); ++peer) {
      sources[peer] = peer == m.rank() ? at(r.send, blocks.offset_of(peer) + part.offset)
                                       : m.traded_cell(peer, m.rank(), round.first);
      if (peer != m.rank()) m.open_pages(sources[peer], part.bytes);
    }
    m.reduce(r.operation, at(r.receive, part.offset), sources, m.size(), part.bytes);
    return true;
  };
  in_rounds(m, rounds_in_traded_cells(m, cells.rounds()), show, read);
}

}  // namespace detail

/// `blocks` of the vector r.send, one for each rank. The result may lie on the start of
/// the vector when all blocks are of one size: what is overwritten in a round has left in that round or
/// before.
template <Machine M, class B>
void reduce_scatter(M& m, const Reduction& r, const B& blocks, const Plan& plan) {
  const auto others = static_cast<std::size_t>(m.size() - 1);
  const std::size_t smallest = smallest_of(blocks, m.size());
  const std::size_t largest = largest_of(blocks, m.size());
  const bool even = is_even(smallest, largest);
  const Cells cells(m, round_bytes(m, plan, even), others, r.bytes - smallest, r.operation.extent);
  const OwnCell own_cell(m, blocks, cells);
  const bool inlined = rides_inline(cells.bytes(), plan);
  Meeting<M> meeting(m, plan);
  if (const TradedCells traded(m, meeting, largest, r.operation.extent);
      !inlined && traded.serve(smallest, cells.rounds()))
    return detail::reduce_scatter_by_traded_cells(m, r, blocks, traded, meeting);

  const auto show = [&](const Round& round) {
    std::byte* data =
        inlined ? m.inline_buffer(Channel::gather, round.step()) : m.slot(m.rank(), round.first);
    const std::size_t written = write_cells(m, data, r.send, blocks, cells, round.index);
    if (!inlined) m.hand_over(data, written);
    meeting.announce(round.step());
  };

  const auto read = [&](const Round& round) {
    const Part part = cells.part(blocks.bytes_of(m.rank()), round.index);
    if (part.bytes == 0) return meeting.is_central();
    const void** sources = m.source_array();
    for (int peer = 0; peer < m.size(); ++peer) {
      if (peer == m.rank()) {
        sources[peer] = at(r.send, blocks.offset_of(peer) + part.offset);
        continue;
      }
      meeting.await(peer, round.step());
      const std::byte* data =
          inlined ? m.inline_data(Channel::gather, peer, round.step()) : m.slot(peer, round.first);
      sources[peer] = data + own_cell.in_slot_of(peer);
      m.open_pages(sources[peer], part.bytes);
    }
    m.reduce(r.operation, at(r.receive, part.offset), sources, m.size(), part.bytes);
    return true;
  };

  exchange_cells(m, cells, meeting, even && !inlined, show, read);
}

}  // namespace espalier::collective
