// One nonblocking collective on one rank, from its start until all that the rank wants is there. Nothing here
// waits: a rank that tests or waits takes what has come, and learns what it lacks.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/schedule/brief_call.hpp"
#include "collective/schedule/exposed_blocks.hpp"
#include "collective/schedule/given_data.hpp"
#include "collective/schedule/line_pages.hpp"
#include "machine/fingerprint.hpp"

namespace espalier::collective {

/// A call, and how far this rank has come in it.
struct CallUnderWay {
  PersistentSpec spec;
  bool is_brief = false;  ///< then the spec has no lists
  BriefCall brief;
  BufferLength length;                   ///< of the buffer for what this rank gives
  Step number = 0;                       ///< of the communicator's nonblocking calls; a step of the machine
  CallLines lines;                       ///< which say what each rank gives
  machine::Fingerprint fingerprint = 0;  ///< that this rank's line bears
  bool published = false;                ///< this rank has given all that it gives
  bool offers_buffer = false;            ///< as exchanges_buffer(), in the memory that all share
  bool is_long = false;                  ///< another thread of this rank advances it, too
  bool done = false;                     ///< this rank reads nothing of it any more

  /// What this rank lacks: until `line` shows `step`. No line: its own start, which has had to wait, or the
  /// starts of others some calls ago.
  struct Lack {
    std::byte* line = nullptr;
    Step step = 0;
    int peer = -1;
  };
  Lack lack;
  /// A rank sleeps on that line, which may be in a buffer: until it looks again the call is not advanced for
  /// it, or the buffer could go back meanwhile.
  bool awaited = false;

  /// The first block of which more is given than this rank wants: it takes nothing of it, and goes on, so that neither
  /// other ranks nor its other calls notice. No peer: there is none.
  struct Excess {
    int peer = -1;
    std::size_t wanted = 0, given = 0;
  };
  Excess excess;

  std::size_t heard = 0;     ///< so many of the sources have published
  std::size_t taken = 0;     ///< so many of the wanted blocks are here
  std::size_t position = 0;  ///< so many bytes of the next one, or of the fold, are here
  /// Copies of what lies in other ranks' own memory, for as long as they are read.
  std::vector<std::vector<std::byte>> copies;
  Exposure exposure;

  /// As new, but for the spec.
  void forget_progress() {
    number = 0;
    lines = {};
    published = offers_buffer = done = awaited = false;
    lack = {};
    excess = {};
    heard = taken = position = 0;
    copies.clear();
    exposure = {};
  }
};

namespace detail {

inline bool lacks(CallUnderWay& call, std::byte* line, Step step, int peer) {
  call.lack = {line, step, peer};
  return false;
}

/// Whether `peer` has published its part. Throws Error if that is of another call.
template <Machine M>
bool hears(M& m, CallUnderWay& call, int peer) {
  std::byte* const line = call.lines.of(peer);
  if (!m.reached_at(line, call.number)) return lacks(call, line, call.number, peer);
  if (m.said_at(line) != call.fingerprint) [[unlikely]] {
    m.begin_call(call.fingerprint);
    m.report_mistake(peer);
    throw Error(formatted("rank {} is in another call than rank {}", peer, m.rank()));
  }
  // Acquired with the step: what the rank has read in calls up to that one comes before this rank's writes.
  if (const auto behind = Step{read_notice(m, line).behind}; behind > 0)
    m.note_finished(peer, call.number - behind);
  return true;
}

/// False: it is noted that more is given than this rank wants. Less is taken as it is, as hosts have it.
inline bool fits(CallUnderWay& call, int peer, std::size_t wanted, std::size_t given) {
  if (given <= wanted) [[likely]]
    return true;
  if (call.excess.peer < 0) call.excess = {peer, wanted, given};
  return false;
}

/// Until where a reader that has `position` bytes of its block may read on, if the chunk there has come;
/// `end`: of the block.
template <Machine M>
bool chunk_is_there(M& m, CallUnderWay& call, const GivenData& given, int peer, std::size_t skipped,
                    std::size_t& end) {
  if (given.log2_chunk == 0) return true;
  const std::size_t begin = given.offset + skipped + call.position;
  const Step chunk = begin >> given.log2_chunk;
  end = std::min(end, ((chunk + 1) << given.log2_chunk) - given.offset - skipped);
  if (chunk == 0) return true;  // its line has said so
  std::byte* const line = given.buffer + BufferParts::line_of_chunk(chunk);
  return m.reached_at(line, chunk + 1) || lacks(call, line, chunk + 1, peer);
}

/// `bytes` from `source` in the memory of `peer`. They are kept until the call forgets its copies.
template <Machine M>
const std::byte* copy_of_remote(M& m, CallUnderWay& call, int peer, const std::byte* source,
                                std::size_t bytes) {
  std::vector<std::byte>& copy = call.copies.emplace_back(bytes);
  read_own_memory(m, peer, copy.data(), source, bytes);
  return copy.data();
}

template <Machine M>
void take_remote_block(M& m, CallUnderWay& call, const Schedule::Take& wanted, const GivenData& given) {
  constexpr std::size_t most = 256 * 1024;
  for (; call.position < given.bytes; call.copies.clear()) {
    const std::size_t bytes = std::min(most, given.bytes - call.position);
    store_taken(m, wanted, {call.position, bytes},
                copy_of_remote(m, call, wanted.peer, given.block + call.position, bytes));
    call.position += bytes;
  }
}

/// False: the system does not let this rank read there.
template <Machine M>
bool pull_exposed(M& m, const Schedule::Take& wanted, const std::byte* source, std::size_t given) {
  constexpr std::size_t most = 256 * 1024;
  if (wanted.pieces.empty()) return m.try_pull(wanted.peer, wanted.target, source, given);
  std::vector<std::byte> copy(std::min(most, given));
  for (std::size_t begin = 0; begin < given; begin += copy.size()) {
    const std::size_t bytes = std::min(copy.size(), given - begin);
    if (!m.try_pull(wanted.peer, copy.data(), source + begin, bytes)) return false;
    store_taken(m, wanted, {begin, bytes}, copy.data());
  }
  return true;
}

/// From the root's own buffer, if this rank is the first to claim the block; else from where the root has copied it to.
template <Machine M>
bool take_exposed(M& m, CallUnderWay& call, const CallArea& area, const Schedule::Take& wanted,
                  const ExposureLines& lines) {
  const ExposedBlock block = read_exposed_block(m, lines, m.rank());
  const bool takes = fits(call, wanted.peer, wanted.bytes, block.bytes);
  std::byte* const end = lines.end(m.rank());
  if (m.take_piece_at(lines.claim(m.rank()), 1) >= 0) {
    const auto* const source = reinterpret_cast<const std::byte*>(block.address);
    const bool is_over = !takes || pull_exposed(m, wanted, source, block.bytes);
    m.signal_at(end, is_over ? ExposureLines::read : ExposureLines::refused);
    if (is_over) return true;
  }
  if (!takes) return true;
  if (!m.reached_at(end, ExposureLines::copied)) return lacks(call, end, ExposureLines::copied, wanted.peer);
  const GivenData given = find_copied(m, lines, block, area);
  if (given.is_remote)
    take_remote_block(m, call, wanted, given);
  else
    store_taken(m, wanted, {0, given.bytes}, begin_reading(m, given.block, given.bytes));
  return true;
}

template <Machine M>
bool take_blocks(M& m, CallUnderWay& call, const CallArea& area) {
  for (; call.taken < call.spec.wants.size(); ++call.taken, call.position = 0) {
    const Schedule::Take& wanted = call.spec.wants[call.taken];
    if (!hears(m, call, wanted.peer)) return false;
    if (is_scatter(call.spec))
      if (const Notice notice = read_notice(m, call.lines.of(wanted.peer)); notice.exposes()) {
        if (!take_exposed(m, call, area, wanted, exposure_lines(notice, area, m.size()))) return false;
        continue;
      }
    const GivenData given = find_given(m, call.spec, wanted.peer, call.lines.of(wanted.peer), area);
    if (!fits(call, wanted.peer, wanted.bytes, given.bytes)) [[unlikely]]
      continue;
    if (given.is_remote) [[unlikely]]
      take_remote_block(m, call, wanted, given);
    while (call.position < given.bytes) {
      std::size_t end = given.bytes;
      if (!chunk_is_there(m, call, given, wanted.peer, 0, end)) return false;
      const std::size_t bytes = end - call.position;
      store_taken(m, wanted, {call.position, bytes}, begin_reading(m, given.block + call.position, bytes));
      call.position = end;
    }
  }
  return true;
}

/// Where what this rank folds begins in a block that it reads. Blocks that lie apart hold it alone.
inline std::size_t skipped_in(const PersistentSpec& spec) { return spec.apart ? 0 : spec.fold.offset; }

template <Machine M>
const std::byte* vector_of(M& m, CallUnderWay& call, const CallArea& area, int peer, std::size_t begin,
                           std::size_t bytes) {
  const Schedule::Fold& fold = call.spec.fold;
  if (peer == m.rank() && fold.own) return fold.own + begin;
  const GivenData given = find_given(m, call.spec, peer, call.lines.of(peer), area);
  const std::size_t at = skipped_in(call.spec) + begin;
  if (at > given.bytes || bytes > given.bytes - at) [[unlikely]]
    refuse_damaged();
  const std::byte* const vector = given.block + at;
  if (given.is_remote) [[unlikely]]
    return copy_of_remote(m, call, peer, vector, bytes);
  return given.buffer ? begin_reading(m, vector, bytes) : vector;
}

template <Machine M>
void fold_vectors(M& m, CallUnderWay& call, const CallArea& area, std::size_t begin, std::size_t bytes,
                  std::byte* target) {
  const Schedule::Fold& fold = call.spec.fold;
  const void** sources = m.source_array();
  for (int i = 0; i < fold.ranks; ++i) sources[i] = vector_of(m, call, area, fold.first + i, begin, bytes);
  m.reduce(*fold.operation, target, sources, fold.ranks, bytes);
  call.copies.clear();
}

/// In pieces of whole elements, which ranks that come by take. A rank that is elsewhere has taken none.
template <Machine M>
bool fold_in_common(M& m, CallUnderWay& call, const CallArea& area) {
  constexpr std::size_t least = 4096, most = 64 * 1024;
  const Schedule::Fold& fold = call.spec.fold;
  const auto ranks = static_cast<std::size_t>(m.size());
  const std::size_t extent = fold.operation->extent;
  const std::size_t piece_bytes =
      (std::clamp(fold.bytes / ranks, least, most) + extent - 1) / extent * extent;
  const int pieces = static_cast<int>((fold.bytes + piece_bytes - 1) / piece_bytes);
  const GivenData first = find_given(m, call.spec, 0, call.lines.of(0), area);
  if (!first.buffer || first.bytes != fold.bytes) [[unlikely]]
    refuse_damaged();
  std::byte* const common = first.buffer + buffer_parts(call.spec, m.size(), fold.bytes).common;
  std::byte* const progress = first.buffer + BufferParts::progress;
  for (int piece; (piece = m.take_piece_at(first.buffer + BufferParts::taken, pieces)) >= 0;) {
    const std::size_t begin = static_cast<std::size_t>(piece) * piece_bytes;
    fold_vectors(m, call, area, begin, std::min(piece_bytes, fold.bytes - begin), common + begin);
    if (m.piece_done_last_at(first.buffer + BufferParts::done, pieces)) m.signal_at(progress, 1);
  }
  if (!m.reached_at(progress, 1)) return lacks(call, progress, 1, 0);
  if (fold.target) m.copy(fold.target, common, fold.bytes);
  return true;
}

template <Machine M>
bool fold_alone(M& m, CallUnderWay& call, const CallArea& area) {
  const Schedule::Fold& fold = call.spec.fold;
  while (call.position < fold.bytes) {
    std::size_t end = fold.bytes;
    for (const int peer : call.spec.sources) {
      const GivenData given = find_given(m, call.spec, peer, call.lines.of(peer), area);
      if (!chunk_is_there(m, call, given, peer, skipped_in(call.spec), end)) return false;
    }
    fold_vectors(m, call, area, call.position, end - call.position, fold.target + call.position);
    call.position = end;
  }
  return true;
}

/// The block that `peer`, which has published, gives to this rank; false: not all of it has come.
template <Machine M>
bool take_brief_block(M& m, CallUnderWay& call, const CallArea& area, int peer, std::byte* target) {
  const GivenData given = find_given(m, call.spec, peer, call.lines.of(peer), area);
  if (!fits(call, peer, call.brief.block, given.bytes)) [[unlikely]]
    return true;
  if (given.is_remote) [[unlikely]] {
    read_own_memory(m, peer, target, given.block, given.bytes);
    return true;
  }
  while (call.position < given.bytes) {
    std::size_t end = given.bytes;
    if (!chunk_is_there(m, call, given, peer, 0, end)) return false;
    const std::size_t bytes = end - call.position;
    const std::byte* const source = given.block + call.position;
    m.copy(target + call.position, given.buffer ? begin_reading(m, source, bytes) : source, bytes);
    call.position = end;
  }
  call.position = 0;
  return true;
}

/// Up to where the vectors of all ranks, which have published, have come; false: not beyond what is folded.
template <Machine M>
bool brief_vectors_are_there(M& m, CallUnderWay& call, const CallArea& area, std::size_t& end) {
  if (!goes_one_way(call.spec.collective) || call.brief.block <= line_capacity) return true;
  for (const int peer : m.other_ranks())
    if (!chunk_is_there(m, call, find_given(m, call.spec, peer, call.lines.of(peer), area), peer, 0, end))
      return false;
  return true;
}

/// `bytes` of the vector of `peer` from `begin` on: all ranks' are equally long.
template <Machine M>
const std::byte* brief_vector(M& m, CallUnderWay& call, const CallArea& area, int peer, std::size_t begin,
                              std::size_t bytes) {
  const GivenData given = find_given(m, call.spec, peer, call.lines.of(peer), area);
  if (given.bytes != call.brief.block) [[unlikely]]
    refuse_damaged();
  const std::byte* const vector = given.block + begin;
  if (given.is_remote) [[unlikely]]
    return copy_of_remote(m, call, peer, vector, bytes);
  return given.buffer ? begin_reading(m, vector, bytes) : vector;
}

template <Machine M>
bool fold_brief(M& m, CallUnderWay& call, const CallArea& area) {
  while (call.position < call.brief.block) {
    const std::size_t begin = call.position;
    std::size_t end = call.brief.block;
    if (!brief_vectors_are_there(m, call, area, end)) return false;
    const void** sources = m.source_array();
    for (int rank = 0; rank < m.size(); ++rank)
      sources[rank] = rank == m.rank() ? folded_own(call.brief) + begin
                                       : brief_vector(m, call, area, rank, begin, end - begin);
    m.reduce(*call.spec.fold.operation, call.brief.receive + begin, sources, m.size(), end - begin);
    call.copies.clear();
    call.position = end;
  }
  return true;
}

/// Of a bcast or scatter(v). A root that scatters more than its readers want, which is an error, may let them read in its
/// own buffer.
template <Machine M>
bool take_from_root(M& m, CallUnderWay& call, const CallArea& area) {
  const int root = call.spec.root;
  if (!hears(m, call, root)) return false;
  if (is_scatter(call.spec)) {
    if (const Notice notice = read_notice(m, call.lines.of(root)); notice.exposes()) [[unlikely]] {
      const Schedule::Take wanted{root, 0, call.brief.block, call.brief.receive};
      return take_exposed(m, call, area, wanted, exposure_lines(notice, area, m.size()));
    }
  }
  return take_brief_block(m, call, area, root, call.brief.receive);
}

template <Machine M>
bool take_brief(M& m, CallUnderWay& call, const CallArea& area) {
  const PersistentSpec& spec = call.spec;
  if (is_from_root(spec.collective)) return m.rank() == spec.root || take_from_root(m, call, area);
  if (!hears_all_in_brief(spec, m.rank())) return true;
  const bool takes_blocks = spec.collective != Collective::barrier && !spec.fold.operation;
  for (const auto others = static_cast<std::size_t>(m.size()) - 1; call.heard < others; ++call.heard) {
    const int next = m.rank() + 1 + static_cast<int>(call.heard);
    const int peer = next < m.size() ? next : next - m.size();
    if (!hears(m, call, peer)) return false;
    if (takes_blocks && !take_brief_block(m, call, area, peer, brief_target(call.brief, peer, m.size())))
      return false;
  }
  return !spec.fold.operation || fold_brief(m, call, area);
}

}  // namespace detail

/// Takes what has come for this rank; true: all of it. Only once it has published. If not, `call.lack` says
/// what comes next.
template <Machine M>
bool take_what_came(M& m, CallUnderWay& call, const CallArea& area) {
  if (call.is_brief) return detail::take_brief(m, call, area);
  if (call.spec.fold.ranks == 0 && !call.spec.wants.empty()) return detail::take_blocks(m, call, area);
  for (; call.heard < call.spec.sources.size(); ++call.heard)
    if (!detail::hears(m, call, call.spec.sources[call.heard])) return false;
  if (call.spec.fold.ranks == 0) return true;  // a barrier, or nothing comes here
  return folds_in_common(call.spec, m.size()) ? detail::fold_in_common(m, call, area)
                                              : detail::fold_alone(m, call, area);
}

}  // namespace espalier::collective
