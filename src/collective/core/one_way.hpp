// Messages that go one way, chunk by chunk: this rank sends, or this rank receives. The slots in use are the
// pipeline (RG III-C, figure 9). The loops are inlined whole (flatten), so that the steps of a chunk stay in
// registers.
#pragma once

#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// `send(chunk)` writes and publishes it on `channel`, and returns which slots it is in. At the end the
/// machine prepares for the next message, which most likely is like this one. Returns the last step.
template <Machine M, class Send>
[[gnu::flatten]] Step send_in_chunks(M& m, Channel channel, const Chunks& chunks, const Send& send) {
  Steps last;
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next_one_way(m, i);
    last = send(chunk);
    m.finish(chunk.step());
  }
  m.prefetch_own_next(channel, last, chunks.message_bytes(), chunks.chunk_bytes());
  return last.last();
}

/// `receive(chunk)` awaits and reads it, and returns which slots it was in.
template <Machine M, class Receive>
[[gnu::flatten]] void receive_in_chunks(M& m, const Chunks& chunks, const Receive& receive) {
  Steps last;
  for (std::size_t i = 0; i < chunks.count(); ++i) {
    const Chunk chunk = chunks.next_one_way(m, i);
    last = receive(chunk);
    m.finish(chunk.step());
  }
  m.prefetch_read_next(last, chunks.message_bytes(), chunks.chunk_bytes());
}

}  // namespace espalier::collective
