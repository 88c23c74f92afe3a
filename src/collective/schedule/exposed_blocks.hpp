// Long blocks of a scatter that stay in the root's own buffer, from which each reader copies its block through the
// kernel: once, and all readers at the same time. The rules of calls_under_way.hpp hold: the start copies nothing,
// and neither side needs the other to be there.
//
// Each block has two flag lines in shared memory, a claim and an end. Who takes the claim first copies the block: its
// reader to where it wants it, or the root (exposure_end.hpp) to a buffer. The end says that the copy is there. A rank
// that has taken a claim copies at once, so nothing waits for a rank that may be in the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collective/schedule/given_data.hpp"

namespace espalier::collective {

/// Of all blocks that a root of three ranks or more gives. On 16 cores 4, 8 and 16 ranks read faster themselves from
/// blocks of 1 MiB, 512 and 256 KiB on (default_rules.json, blocking scatters). Ranks that share cores cannot read at the
/// same time: there the kernel's copies are slower than those through a buffer, unless these leave the caches.
constexpr std::size_t least_exposed(double ranks_per_core) {
  return std::size_t{ranks_per_core > 1 ? 16U : 3U} << 20;
}

/// Where a block lies in the root's memory.
struct ExposedBlock {
  std::uint64_t address = 0, bytes = 0;
};

/// A buffer of the root: [as all buffers begin][claim and end of each rank]. The claim's line has a ExposedBlock, too; the
/// end's, once the root has copied, a Notice.
struct ExposureLines {
  /// Steps of an end. `refused`: the reader has the claim, but the system does not let it read.
  static constexpr Step refused = 1, read = 2, copied = 3;

  static constexpr std::size_t bytes(int ranks) {
    return BufferParts::table + 2 * static_cast<std::size_t>(ranks) * sizeof(memory::FlagLine);
  }
  std::byte* claim(int reader) const {
    return buffer + BufferParts::table + 2 * static_cast<std::size_t>(reader) * sizeof(memory::FlagLine);
  }
  std::byte* end(int reader) const { return claim(reader) + sizeof(memory::FlagLine); }

  std::byte* buffer = nullptr;
};

/// What the root remembers of the blocks that it exposes in a call.
struct Exposure {
  ExposureLines lines;    ///< no buffer: it exposes none
  int unclaimed = 0;      ///< so many blocks were not claimed when it looked last
  std::size_t looks = 0;  ///< so often it has found as many
};

/// The root decides by itself, and its line says so.
inline bool may_expose(const PersistentSpec& spec, int ranks, std::size_t expose_from) {
  return is_scatter(spec) && ranks > 2 && spec.given_bytes >= expose_from &&
         std::all_of(spec.gives.begin(), spec.gives.end(),
                     [](const Give& each) { return each.pieces.empty(); });
}

/// Of those that go to other ranks, which are some. False: they may not be read there.
template <Machine M>
bool can_expose_given(M& m, const PersistentSpec& spec) {
  const std::byte *begin = spec.gives.front().source, *end = begin;
  for (const Give& each : spec.gives) {
    begin = std::min(begin, each.source);
    end = std::max(end, each.source + each.bytes);
  }
  return m.can_expose(begin, static_cast<std::size_t>(end - begin), true);
}

inline ExposedBlock exposed_block(const PersistentSpec& spec, int reader) {
  const PersistentSpec::Place& place = spec.places[static_cast<std::size_t>(reader)];
  if (place.bytes == 0) return {};
  const auto give = std::find_if(spec.gives.begin(), spec.gives.end(),
                                 [&](const Give& each) { return each.offset == place.offset; });
  return {reinterpret_cast<std::uint64_t>(give->source), place.bytes};
}

/// As give_data(). `lines`: in memory that all share; all readers have finished the call that had it before.
template <Machine M>
void expose_given(M& m, const PersistentSpec& spec, const Giving& giving, std::byte* base,
                  const ExposureLines& lines) {
  for (const int reader : m.other_ranks()) {
    const ExposedBlock block = exposed_block(spec, reader);
    m.clear_line(lines.claim(reader));
    m.clear_line(lines.end(reader));
    m.copy(m.payload_at(lines.claim(reader)), &block, sizeof block);
  }
  Notice notice = notice_of(giving, spec.given_bytes);
  notice.buffer = Notice::exposed | static_cast<std::uint64_t>(lines.buffer - base);
  detail::publish(m, giving, notice);
  move_kept(m, spec.keep);
}

/// The lines of which `notice` speaks.
inline ExposureLines exposure_lines(const Notice& notice, const CallArea& area, int ranks) {
  return {area.at(notice.buffer & ~Notice::exposed, ExposureLines::bytes(ranks))};
}

template <Machine M>
ExposedBlock read_exposed_block(M& m, const ExposureLines& lines, int reader) {
  ExposedBlock block;
  m.copy(&block, m.payload_at(lines.claim(reader)), sizeof block);
  return block;
}

/// A block that the root has copied: its end says so.
template <Machine M>
GivenData find_copied(M& m, const ExposureLines& lines, const ExposedBlock& block, const CallArea& area) {
  const Notice notice = read_notice(m, lines.end(m.rank()));
  GivenData given;
  given.bytes = block.bytes;
  given.is_remote = (notice.buffer & Notice::in_own_memory) != 0;
  if (!given.is_remote && block.bytes > area.bytes) [[unlikely]]
    refuse_damaged();
  given.block = given.is_remote ? reinterpret_cast<const std::byte*>(notice.buffer & ~Notice::in_own_memory)
                                : area.at(notice.buffer, BufferParts::table + block.bytes);
  given.block += BufferParts::table;
  return given;
}

}  // namespace espalier::collective
