// How a rank gives its data to a nonblocking collective: short ones ride in its flag line, others lie in a
// buffer of its own, of which the line says where it is. So no rank needs to know beforehand how much another
// one gives, and none waits for another. Where the memory that the ranks share has no room for a buffer, it lies in
// the rank's own memory, from which the readers copy through the kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/core/blocks.hpp"
#include "collective/core/chunk_copies.hpp"
#include "collective/core/rounds.hpp"
#include "collective/schedule/call_area.hpp"
#include "collective/schedule/persistent_spec.hpp"
#include "memory/flag_line.hpp"

namespace espalier::collective {

/// What a rank's flag line of a call says, before the table and the data that ride there.
struct Notice {
  /// Where the rank's buffer begins, counted from the base; 0: there is none; with `in_own_memory`: its address there;
  /// with `exposed`: there are the ExposureLines; with `exchanged`: see exchanges_buffer().
  std::uint64_t buffer = 0;
  std::uint64_t bytes : 48 = 0;      ///< all that is given; readers read all of it, unless there is a table
  std::uint64_t log2_chunk : 6 = 0;  ///< data become readable in chunks of so many bytes; 0: all are
  std::uint64_t behind : 10 = 0;     ///< the rank has finished the call so many before this one; 0: unsaid

  static constexpr std::uint64_t in_own_memory = std::uint64_t{1} << 63, exposed = std::uint64_t{1} << 62,
                                 exchanged = std::uint64_t{1} << 61;

  /// What `buffer` says of `data`, in the rank's own memory or in that which all share from `base` on.
  static std::uint64_t place_of(const std::byte* data, bool is_own, const std::byte* base) {
    return is_own ? in_own_memory | reinterpret_cast<std::uint64_t>(data)
                  : static_cast<std::uint64_t>(data - base);
  }
  bool exposes() const { return (buffer & exposed) != 0 && (buffer & in_own_memory) == 0; }
  /// Of a buffer in the memory that all share.
  bool exchanges() const { return (buffer & exchanged) != 0 && (buffer & in_own_memory) == 0; }
  std::uint64_t offset() const { return buffer & ~exchanged; }

  /// Of a rank that has finished all calls up to `finished`: so its readers need not look at its finish line.
  void say_finished(Step number, Step finished) {
    constexpr Step most = (1 << 10) - 1;
    behind = number - finished <= most ? number - finished : 0;
  }
};
static_assert(sizeof(Notice) == 16);
inline constexpr std::size_t line_capacity = memory::inline_capacity - sizeof(Notice);

/// A buffer: [three flag lines][table: what each rank reads][data][the result of a fold in common]. The lines say of a
/// fold in common whether it is done, which pieces are taken, and which are done; of data in chunks which have come.
struct BufferParts {
  static constexpr std::size_t line = sizeof(memory::FlagLine), lines = 3;
  static constexpr std::size_t progress = 0, taken = line, done = 2 * line, table = lines * line;
  std::size_t data, common, end;

  /// Neighbours have lines of their own: a reader that looks for a chunk does not hold the line of the next one, which
  /// its writer would have to take back from it.
  static constexpr std::size_t line_of_chunk(memory::Step chunk) { return chunk % lines * line; }
};

/// Whether each reader has a block of its own.
inline bool goes_by_reader(Collective collective) {
  using enum Collective;
  constexpr CollectiveSet by_reader = {scatter, scatterv, alltoall, alltoallv};
  return by_reader.contains(collective) || traits(collective).in_pieces;
}

/// Whether readers must be told where their blocks lie. The same on all ranks.
inline bool has_table(const PersistentSpec& spec, int ranks) {
  return spec.cut || (ranks > 2 && goes_by_reader(spec.collective));
}

/// Of the table before the data of a rank that gives some; 0: it has none.
inline std::size_t table_bytes(const PersistentSpec& spec, int ranks) {
  return has_table(spec, ranks) ? static_cast<std::size_t>(ranks) * sizeof(PersistentSpec::Place) : 0;
}

/// More than two ranks and longer vectors: they fold in common, once. Else each rank folds for itself.
inline constexpr std::size_t least_in_common = 4096;
inline bool folds_in_common(const PersistentSpec& spec, int ranks) {
  return moves_as(spec) == Collective::allreduce && ranks > 2 && spec.fold.bytes >= least_in_common;
}

inline bool is_scatter(const PersistentSpec& spec) {
  return spec.collective == Collective::scatter || spec.collective == Collective::scatterv;
}

/// How long the chunks of such data are: short enough that a reader soon begins, and long enough for what each
/// costs. `longest`: the logarithm of the longest. The giver alone decides, and says so.
inline int log2_chunk_for(std::size_t bytes, int longest) {
  constexpr int steps = 2;
  const int half = std::bit_width(bytes) - 1 - 1;
  return std::clamp(half, longest - steps, longest);
}

/// What goes one way is read while it is written, if it has two chunks and more: the logarithm of a chunk; 0: it does not.
inline std::uint64_t chunks_of_given(Collective collective, std::size_t bytes, int longest_log2_chunk) {
  const int log2_chunk = log2_chunk_for(bytes, longest_log2_chunk);
  const bool is_cut = goes_one_way(collective) && bytes >= std::size_t{2} << log2_chunk;
  return is_cut ? static_cast<std::uint64_t>(log2_chunk) : 0;
}

inline bool rides_in_line(const PersistentSpec& spec, int ranks) {
  const std::size_t given = spec.given_bytes;
  return given <= line_capacity && (given == 0 || table_bytes(spec, ranks) <= line_capacity - given);
}

/// `given_bytes`: of the rank whose buffer it is. The result of a fold in common is in rank 0's.
inline BufferParts buffer_parts(const PersistentSpec& spec, int ranks, std::size_t given_bytes) {
  BufferParts parts{};
  parts.data = BufferParts::table + whole_lines(table_bytes(spec, ranks));
  parts.common = parts.data + whole_lines(given_bytes);
  parts.end = parts.common + (folds_in_common(spec, ranks) ? whole_lines(spec.fold.bytes) : 0);
  return parts;
}

/// Of two ranks, whether this one offers the other its buffer, because each reads as much as it gives. If both offer
/// theirs, each has the other's when both have finished the call: what a rank writes next it has just read, as in pairwise
/// exchange buffers.
inline bool exchanges_buffer(const PersistentSpec& spec, int ranks) {
  return ranks == 2 && spec.sources.size() == 1 && !has_table(spec, ranks) && !rides_in_line(spec, ranks) &&
         spec.arrives_from(spec.sources.front()) == spec.given_bytes;
}

/// A buffer that is exchanged has a length that follows from what is given in it, so the other rank knows it: of four
/// lengths between two powers of two.
inline std::size_t exchanged_bytes(std::size_t given_bytes) {
  const std::size_t step = std::max(std::bit_floor(given_bytes) / 4, sizeof(memory::FlagLine));
  return BufferParts::table + (given_bytes + step - 1) / step * step;
}

/// How long a buffer must be, at least; just so long where it is exchanged. No bytes: none is needed.
struct BufferLength {
  std::size_t bytes = 0;
  bool is_exchanged = false;
};

/// Of this rank's buffer for a call.
inline BufferLength buffer_length(const PersistentSpec& spec, int ranks) {
  if (rides_in_line(spec, ranks)) return {};
  if (exchanges_buffer(spec, ranks)) return {exchanged_bytes(spec.given_bytes), true};
  return {buffer_parts(spec, ranks, spec.given_bytes).end};
}

/// What this rank finds of another one's data, or of its own.
struct GivenData {
  std::byte* buffer = nullptr;       ///< of the giver; nullptr: its data ride in its line
  const std::byte* block = nullptr;  ///< from where offsets in what this rank wants count
  std::size_t bytes = 0;             ///< of this rank's block
  std::size_t offset = 0;            ///< of this rank's block in all that is given: chunks count from there
  std::uint64_t log2_chunk = 0;
  bool is_remote = false;  ///< the block lies in the giver's own memory; there is no `buffer` then
};

/// The call in which a rank gives, its line there, and up to which call it has finished all.
struct Giving {
  Step number;
  std::byte* line;
  Step finished;
};

/// Of a rank that gives so many bytes.
inline Notice notice_of(const Giving& giving, std::size_t bytes) {
  Notice notice;
  notice.bytes = bytes;
  notice.say_finished(giving.number, giving.finished);
  return notice;
}

/// A buffer for what a rank gives.
struct Room {
  std::byte* data = nullptr;
  bool is_own = false;  ///< it lies in the rank's own memory, where others only read
};

namespace detail {

template <Machine M>
void write_notice(M& m, std::byte* line, const Notice& notice) {
  m.copy(m.payload_at(line), &notice, sizeof notice);
}

/// After the data, and both at once: readers look at the line all the time, and would take it back in between.
template <Machine M>
void publish(M& m, const Giving& giving, const Notice& notice) {
  write_notice(m, giving.line, notice);
  m.signal_at(giving.line, giving.number);
}

template <Machine M>
void clear_lines(M& m, std::byte* buffer) {
  for (std::size_t i = 0; i < BufferParts::lines; ++i) m.clear_line(buffer + i * BufferParts::line);
}

template <Machine M>
void give_in_line(M& m, const PersistentSpec& spec, const Giving& giving) {
  std::byte* data = m.payload_at(giving.line) + sizeof(Notice);
  if (spec.given_bytes > 0 && has_table(spec, m.size())) {
    m.copy(data, spec.places.data(), table_bytes(spec, m.size()));
    data += table_bytes(spec, m.size());
  }
  for (const Give& each : spec.gives) copy_given(m, data + each.offset, each, {0, each.bytes});
  publish(m, giving, notice_of(giving, spec.given_bytes));
}

/// Readers follow: each chunk is announced when it is whole, the first one by the line of the call. `gives`: in the order
/// of their offsets; what lies between two of them no rank reads.
template <Machine M>
void give_in_chunks(M& m, std::span<const Give> gives, const Giving& giving, const Notice& notice,
                    std::byte* lines, std::byte* data) {
  const auto log2_chunk = static_cast<int>(notice.log2_chunk);
  Step next = 0;
  const auto announce_before = [&](Step end) {
    for (; next < end; ++next)
      next == 0 ? publish(m, giving, notice)
                : m.signal_at(lines + BufferParts::line_of_chunk(next), next + 1);
  };
  for (const Give& each : gives)
    by_chunks({log2_chunk, 0}, each.offset, each.bytes, [&](std::size_t begin, std::size_t bytes, Step) {
      show_given(m, data + begin, each, {begin - each.offset, bytes});
      m.flush_for_readers(data + begin, bytes);
      announce_before((begin + bytes) >> log2_chunk);
    });
  announce_before(((notice.bytes - 1) >> log2_chunk) + 1);
}

/// What lies before `data` in the buffer has been written.
template <Machine M>
void give_noticed(M& m, std::span<const Give> gives, const Giving& giving, const Notice& notice,
                  std::byte* buffer, std::byte* data) {
  if (notice.log2_chunk != 0) return give_in_chunks(m, gives, giving, notice, buffer, data);
  for (const Give& each : gives) {
    show_given(m, data + each.offset, each, {0, each.bytes}, notice.exchanges() ? each.bytes : 0);
    m.flush_for_readers(data + each.offset, each.bytes);
  }
  publish(m, giving, notice);
}

template <Machine M>
void give_in_buffer(M& m, const PersistentSpec& spec, const Giving& giving, std::byte* base, const Room& room,
                    int longest_log2_chunk) {
  std::byte* const buffer = room.data;
  Notice notice = notice_of(giving, spec.given_bytes);
  notice.buffer = Notice::place_of(buffer, room.is_own, base);
  if (!room.is_own) {
    if (exchanges_buffer(spec, m.size())) notice.buffer |= Notice::exchanged;
    notice.log2_chunk = chunks_of_given(moves_as(spec), spec.given_bytes, longest_log2_chunk);
    if (notice.log2_chunk != 0 || folds_in_common(spec, m.size())) clear_lines(m, buffer);
  }
  if (has_table(spec, m.size()))
    m.copy(buffer + BufferParts::table, spec.places.data(),
           spec.places.size() * sizeof(PersistentSpec::Place));
  const BufferParts parts = buffer_parts(spec, m.size(), spec.given_bytes);
  give_noticed(m, std::span<const Give>(spec.gives), giving, notice, buffer, buffer + parts.data);
}

}  // namespace detail

/// Gives all that this rank has to give to a call: then no rank needs it any more. All readers have finished
/// the call that had the buffer before. `base`: of the memory that the ranks share, which may begin elsewhere
/// in each. `room`: of buffer_length(), or none.
template <Machine M>
void give_data(M& m, const PersistentSpec& spec, const Giving& giving, std::byte* base, const Room& room,
               int log2_chunk) {
  if (room.data)
    detail::give_in_buffer(m, spec, giving, base, room, log2_chunk);
  else
    detail::give_in_line(m, spec, giving);
  move_kept(m, spec.keep);
}

template <Machine M>
Notice read_notice(M& m, std::byte* line) {
  Notice notice;
  m.copy(&notice, m.payload_at(line), sizeof notice);
  return notice;
}

/// Copies from the memory of `peer`, which has a buffer there.
template <Machine M>
void read_own_memory(M& m, int peer, void* target, const std::byte* source, std::size_t bytes) {
  if (m.try_pull(peer, target, source, bytes)) return;
  throw Error(formatted(
      "rank {} may no longer read the memory of rank {}, whose data found no room in the node's shared "
      "memory (see ESPALIER_SHM)",
      m.rank(), peer));
}

namespace detail {

/// Of the block that lies at `place` of `parts.data` in `given`.
inline GivenData with_block(GivenData given, const std::byte* data, const PersistentSpec::Place& place,
                            std::size_t given_bytes) {
  if (place.offset > given_bytes || place.bytes > given_bytes - place.offset) [[unlikely]]
    refuse_damaged();
  given.offset = place.offset;
  given.bytes = place.bytes;
  given.block = data + place.offset;
  return given;
}

/// `said`: what the line says behind the notice.
template <Machine M>
GivenData find_by_table_in_line(M& m, const PersistentSpec& spec, const Notice& notice,
                                const std::byte* said) {
  if (notice.bytes == 0) return {};
  const std::size_t table = table_bytes(spec, m.size());
  if (notice.bytes > line_capacity || table > line_capacity - notice.bytes) [[unlikely]]
    refuse_damaged();
  PersistentSpec::Place place;
  m.copy(&place, said + static_cast<std::size_t>(m.rank()) * sizeof place, sizeof place);
  return with_block({}, said + table, place, notice.bytes);
}

/// What is not there is not read: the system says so.
template <Machine M>
GivenData find_in_own_memory(M& m, const PersistentSpec& spec, const Notice& notice, int peer) {
  const auto* const buffer = reinterpret_cast<const std::byte*>(notice.buffer & ~Notice::in_own_memory);
  const BufferParts parts = buffer_parts(spec, m.size(), notice.bytes);
  PersistentSpec::Place place{0, notice.bytes};
  if (has_table(spec, m.size())) {
    const std::size_t mine = static_cast<std::size_t>(m.rank()) * sizeof place;
    read_own_memory(m, peer, &place, buffer + BufferParts::table + mine, sizeof place);
  }
  GivenData given;
  given.is_remote = true;
  return with_block(given, buffer + parts.data, place, notice.bytes);
}

}  // namespace detail

/// The buffer of the other rank, whose line that is, from now on this one's, which has offered its own with so many bytes in
/// it; nullptr: the other rank does not take it. Both have published, and know the same of both lines. A rank does not look
/// at its own: a processor may leave that in the cache of the core that has read it.
template <Machine M>
std::byte* exchanged_buffer(M& m, std::size_t given_bytes, std::byte* line, const CallArea& area) {
  const Notice notice = read_notice(m, line);
  if (!notice.exchanges() || notice.bytes != given_bytes) return nullptr;
  return area.at(notice.offset(), exchanged_bytes(notice.bytes));
}

/// What `peer`, which may be this rank, has for this rank: its line of the call has been published. Throws Error
/// where that cannot be; what it returns lies in the area, or in the memory of `peer`.
template <Machine M>
GivenData find_given(M& m, const PersistentSpec& spec, int peer, std::byte* line, const CallArea& area) {
  const Notice notice = read_notice(m, line);
  if (notice.buffer == 0) {
    const std::byte* const said = m.payload_at(line) + sizeof notice;
    if (has_table(spec, m.size())) return detail::find_by_table_in_line(m, spec, notice, said);
    if (notice.bytes > line_capacity) [[unlikely]]
      refuse_damaged();
    return {nullptr, said, notice.bytes, 0, 0};
  }
  if ((notice.buffer & Notice::in_own_memory) != 0) [[unlikely]]
    return detail::find_in_own_memory(m, spec, notice, peer);
  // Of more bytes than the area has the parts are not even worked out; nor are chunks longer than a rank writes.
  constexpr std::uint64_t longest_log2_chunk = 40;
  if (notice.bytes > area.bytes || notice.log2_chunk > longest_log2_chunk) [[unlikely]]
    refuse_damaged();
  const BufferParts parts = buffer_parts(spec, m.size(), notice.bytes);
  GivenData given;
  given.buffer = area.at(notice.offset(), parts.end);
  given.log2_chunk = notice.log2_chunk;
  PersistentSpec::Place place{0, notice.bytes};
  if (has_table(spec, m.size()))
    m.copy(&place, given.buffer + BufferParts::table + static_cast<std::size_t>(m.rank()) * sizeof place,
           sizeof place);
  return detail::with_block(given, given.buffer + parts.data, place, notice.bytes);
}

}  // namespace espalier::collective
