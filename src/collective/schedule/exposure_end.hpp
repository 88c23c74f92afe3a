// When the root of a scatter whose readers copy from its own buffer (exposed_blocks.hpp) is complete: each block has been
// read or copied, so the program may write to the buffer. Nothing here waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/schedule/call_under_way.hpp"

namespace espalier::collective {

namespace detail {

/// What the root finds when it looks at the blocks. Ranks, or -1.
struct ReadersState {
  int unclaimed_count = 0;
  int unclaimed = -1;   ///< one that has not come yet
  int refused = -1;     ///< one that may not read, and waits for a copy
  int being_read = -1;  ///< one that reads now
};

template <Machine M>
ReadersState look_at_readers(M& m, const PersistentSpec& spec, const ExposureLines& lines) {
  ReadersState found;
  for (const int reader : m.other_ranks()) {
    if (spec.places[static_cast<std::size_t>(reader)].bytes == 0) continue;
    if (m.reached_at(lines.end(reader), ExposureLines::read)) continue;
    if (m.reached_at(lines.end(reader), ExposureLines::refused)) {
      found.refused = reader;
    } else if (m.reached_at(lines.claim(reader), 1)) {
      found.being_read = reader;
    } else {
      ++found.unclaimed_count;
      found.unclaimed = reader;
    }
  }
  return found;
}

/// Whether the root, which has nothing else to do, still looks for readers before it copies: for about as long as it
/// would copy. A look takes about as long as some pages.
inline bool is_patient(Exposure& exposure, int unclaimed, std::size_t bytes) {
  constexpr std::size_t bytes_a_look = 4096;
  if (exposure.unclaimed != unclaimed) {
    exposure.unclaimed = unclaimed;
    exposure.looks = 0;
  }
  return exposure.looks++ < bytes / bytes_a_look;
}

/// The copy for a reader whose claim this rank has, or which may not read.
template <Machine M>
void copy_for_reader(M& m, CallUnderWay& call, std::byte* base, int reader, const Room& room) {
  const ExposedBlock block = exposed_block(call.spec, reader);
  std::byte* const data = room.data + BufferParts::table;
  show_pairwise(m, data, reinterpret_cast<const std::byte*>(block.address), block.bytes, 0);
  m.flush_for_readers(data, block.bytes);
  Notice notice;
  notice.buffer = Notice::place_of(room.data, room.is_own, base);
  std::byte* const end = call.exposure.lines.end(reader);
  write_notice(m, end, notice);
  m.signal_at(end, ExposureLines::copied);
}

}  // namespace detail

/// Whether no reader needs the blocks any more. If not, `call.lack` says what comes next. `room_for(bytes)`: a Room, or
/// none. It is asked for before the claim is taken, and is for nothing where a reader comes first.
template <Machine M, class RoomFor>
bool have_readers_ended(M& m, CallUnderWay& call, std::byte* base, RoomFor room_for) {
  Exposure& exposure = call.exposure;
  const auto look_again = [&] {
    call.lack = {};
    return false;
  };
  for (;;) {
    const detail::ReadersState found = detail::look_at_readers(m, call.spec, exposure.lines);
    const bool is_refused = found.refused >= 0;
    const int reader = is_refused ? found.refused : found.unclaimed;
    if (reader < 0)
      return found.being_read < 0 || detail::lacks(call, exposure.lines.end(found.being_read),
                                                   ExposureLines::refused, found.being_read);
    const std::size_t bytes = call.spec.places[static_cast<std::size_t>(reader)].bytes;
    if (!is_refused && detail::is_patient(exposure, found.unclaimed_count, bytes)) return look_again();
    const Room room = room_for(BufferParts::table + whole_lines(bytes));
    if (!room.data) return look_again();
    if (!is_refused && m.take_piece_at(exposure.lines.claim(reader), 1) < 0) continue;
    detail::copy_for_reader(m, call, base, reader, room);
    --exposure.unclaimed;  // as expected: the next one is not waited for again
  }
}

}  // namespace espalier::collective
