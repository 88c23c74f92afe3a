// Reduce_scatter: every rank's slot holds the parts of its vector that are the others', and each folds its
// own block out of all slots, straight into its receive buffer, in rank order.
#pragma once

#include "collective/cells.hpp"
#include "collective/meeting.hpp"
#include "collective/reduce.hpp"

namespace espalier::collective {

/// `blocks` of the vector r.send, one for each rank. The result may lie on the start of
/// the vector when all blocks are of one size: what is overwritten in a round has left in that round or
/// before.
template <Machine M, class B>
void reduce_scatter(M& m, const Reduction& r, const B& blocks, const Plan& plan) {
  const auto others = static_cast<std::size_t>(m.size() - 1);
  const std::size_t smallest = smallest_of(blocks, m.size());
  const bool even = is_even(smallest, largest_of(blocks, m.size()));
  const Cells cells(m, round_bytes(m, plan, even), others, r.bytes - smallest, r.operation.extent);
  const OwnCell own_cell(m, blocks, cells);
  const bool inlined = rides_inline(cells.bytes(), plan);
  Meeting<M> meeting(m, plan);

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
