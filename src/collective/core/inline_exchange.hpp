// Exchanges of messages so short that all of a rank's data ride in its flag line: one flag exchange.
#pragma once

#include "collective/core/blocks.hpp"
#include "collective/core/meeting.hpp"

namespace espalier::collective {

/// `write(line)` fills this rank's line, for `readers`. `read(of)` uses the others': `of(peer)` gives a
/// peer's once it is there; it returns whether it has heard from every rank. In one piece: it is most of what
/// such a call takes.
template <Machine M, class Write, class Read>
[[gnu::flatten]] void exchange_inline(M& m, Meeting<M>& meeting, std::span<const int> readers,
                                      const Write& write, const Read& read) {
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  m.reserve(steps);
  write(m.inline_buffer(Channel::gather, step));
  meeting.announce(step);
  m.set_readers(steps, readers);
  const bool heard_from_all = read([&](int peer) {
    meeting.await(peer, step);
    return m.inline_data(Channel::gather, peer, step);
  });
  if (heard_from_all || meeting.is_central()) m.everybody_finished(step - 1);
  m.finish(step);
  if (!meeting.is_central()) m.prefetch_line_next(Channel::gather);
}

/// A rank's blocks for the others, one after the other in its line, in rank order.
template <Machine M, class B>
void write_others(M& m, std::byte* line, const void* send, const B& blocks) {
  for (int peer = 0; peer < m.size(); ++peer) {
    if (peer == m.rank()) continue;
    m.copy(line, at(send, blocks.offset_of(peer)), blocks.bytes_of(peer));
    line += blocks.bytes_of(peer);
  }
}

}  // namespace espalier::collective
