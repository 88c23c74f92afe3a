// How the root of a scatter gets the blocks back that it has lent (lent_blocks.hpp): its call is complete, and the
// program may write to the buffer, when each has been read or copied. Nothing here waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/schedule/call_under_way.hpp"

namespace espalier::collective {

namespace detail {

/// What the root finds when it looks at the blocks. Ranks, or -1.
struct LentState {
  int unclaimed_count = 0;
  int unclaimed = -1;   ///< one that has not come yet
  int refused = -1;     ///< one that may not read, and waits for a copy
  int being_read = -1;  ///< one that reads now
};

template <Machine M>
LentState look_at_lent(M& m, const PersistentSpec& spec, const LentLines& lines) {
  LentState found;
  for (const int reader : m.other_ranks()) {
    if (spec.places[static_cast<std::size_t>(reader)].bytes == 0) continue;
    if (m.reached_at(lines.end(reader), LentLines::read)) continue;
    if (m.reached_at(lines.end(reader), LentLines::refused)) {
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
inline bool is_patient(Lending& lending, int unclaimed, std::size_t bytes) {
  constexpr std::size_t bytes_a_look = 4096;
  if (lending.unclaimed != unclaimed) {
    lending.unclaimed = unclaimed;
    lending.looks = 0;
  }
  return lending.looks++ < bytes / bytes_a_look;
}

/// The copy for a reader whose claim this rank has, or which may not read.
template <Machine M>
void copy_lent(M& m, CallUnderWay& call, std::byte* base, int reader, const Room& room) {
  const LentBlock block = lent_block(call.spec, reader);
  std::byte* const data = room.data + BufferParts::table;
  show_pairwise(m, data, reinterpret_cast<const std::byte*>(block.address), block.bytes, 0);
  m.flush_for_readers(data, block.bytes);
  Notice notice;
  notice.buffer = room.is_own ? Notice::in_own_memory | reinterpret_cast<std::uint64_t>(room.data)
                              : static_cast<std::uint64_t>(room.data - base);
  std::byte* const end = call.lending.lines.end(reader);
  write_notice(m, end, notice);
  m.signal_at(end, LentLines::copied);
}

}  // namespace detail

/// Whether no reader needs the blocks any more. If not, `call.lack` says what comes next. `room_for(bytes)`: a Room, or
/// none. It is asked for before the claim is taken, and is for nothing where a reader comes first.
template <Machine M, class RoomFor>
bool has_taken_back(M& m, CallUnderWay& call, std::byte* base, RoomFor room_for) {
  Lending& lending = call.lending;
  const auto look_again = [&] {
    call.lack = {};
    return false;
  };
  for (;;) {
    const detail::LentState found = detail::look_at_lent(m, call.spec, lending.lines);
    const bool is_refused = found.refused >= 0;
    const int reader = is_refused ? found.refused : found.unclaimed;
    if (reader < 0)
      return found.being_read < 0 ||
             detail::lacks(call, lending.lines.end(found.being_read), LentLines::refused, found.being_read);
    const std::size_t bytes = call.spec.places[static_cast<std::size_t>(reader)].bytes;
    if (!is_refused && detail::is_patient(lending, found.unclaimed_count, bytes)) return look_again();
    const Room room = room_for(BufferParts::table + whole_lines(bytes));
    if (!room.data) return look_again();
    if (!is_refused && m.take_piece_at(lending.lines.claim(reader), 1) < 0) continue;
    detail::copy_lent(m, call, base, reader, room);
    --lending.unclaimed;  // as expected: the next one is not waited for again
  }
}

}  // namespace espalier::collective
