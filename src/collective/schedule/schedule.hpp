// Collectives that are prepared once and started again and again (MPI's persistent ones): all addresses and
// lengths are known, and memory for all that ranks give each other is there.
//
// Between a start and its completion a rank may be anywhere: computing, or waiting in the host for a rank
// that waits for this collective. So no rank waits in start(), and no other rank needs a rank that has
// started: all that it gives lies in shared memory, and a rank that takes work that is done for all does it
// at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "collective/core/chunk_copies.hpp"
#include "collective/core/rounds.hpp"
#include "collective/schedule/moves.hpp"
#include "reduce/operation.hpp"

namespace espalier::collective {

/// What one rank does each time.
struct Schedule {
  using Give = collective::Give;
  using Take = collective::Take;
  using Keep = collective::Keep;
  /// The same part of what the ranks from `first` on give, folded in rank order.
  struct Fold {
    const reduce::Operation* operation = nullptr;
    int first = 0, ranks = 0;
    std::size_t offset = 0, bytes = 0;
    std::byte* target = nullptr;  ///< nullptr: this rank folds for others alone
    /// Where this rank's own part lies; nullptr: it is read from what the rank gives, for the result
    /// overwrites it.
    const std::byte* own = nullptr;
  };
  /// A fold that all ranks want, cut in pieces: each rank that tests or completes folds some of them for all.
  struct Shared {
    std::byte* result = nullptr;
    std::size_t piece_bytes = 0;
    int pieces = 0;  ///< 0: each rank folds for itself
  };
  /// A reader may begin when one chunk of the data is there, where the giver does not have to wait for its
  /// readers. The same on all ranks.
  struct Chunks {
    int log2_bytes = 63;  ///< of a chunk; by default all data are one
    int log2_count = 0;   ///< of the number of chunks in the longest data of a rank, rounded up
  };

  std::vector<Give> gives;  ///< in the order of places
  std::vector<Take> takes;
  Keep keep;
  Fold fold;
  Shared shared;
  Chunks chunks;
  /// A place for even epochs and one for odd ones, since others may still read the data of the epoch before.
  /// Two ranks that give each other something alone use them in turns, as pairwise cells
  /// (machine/concept.hpp): a rank writes where it has read in the epoch before.
  using EpochBuffers = std::array<std::byte*, 2>;
  /// By peer: where the data begin that this rank gives it (`out`), and that it gives this rank (`in`).
  /// Unused where all data ride in flag lines.
  std::vector<EpochBuffers> out, in;
  /// By reader: bytes that this rank has read there, if the cell belongs to a pair.
  std::vector<std::size_t> comes_back;
  bool inlined = false;
  std::vector<int> sources;  ///< the ranks that this one waits for
  std::vector<int> readers;  ///< the readers that are not among `sources`
};

/// One start and what follows of it.
struct Epoch {
  Step first = 0, last = 0;  ///< steps: one a chunk
  Step number = 0;           ///< 1, 2, ...
};

namespace detail {

template <Machine M>
Epoch next_epoch(M& m, const Schedule& p) {
  if (p.chunks.log2_count == 0) {
    const Step step = m.advance(1).last();
    return {step, step, step};
  }
  const Step first = m.advance(1 << p.chunks.log2_count).first;
  return {first, first + (Step{1} << p.chunks.log2_count) - 1, first >> p.chunks.log2_count};
}

template <Machine M>
const std::byte* given_by(M& m, const Schedule& p, int peer, const Epoch& epoch) {
  return p.inlined ? m.inline_data(Channel::gather, peer, epoch.last)
                   : p.in[static_cast<std::size_t>(peer)][epoch.number & 1];
}

/// Cuts a range at the ends of chunks, and calls body(begin, bytes, chunk) for each part.
template <class Body>
void by_chunks(const Schedule::Chunks& chunks, std::size_t begin, std::size_t bytes, Body body) {
  const std::size_t end = begin + bytes;
  while (begin < end) {
    const std::size_t chunk = begin >> chunks.log2_bytes;
    const std::size_t part = std::min(end, (chunk + 1) << chunks.log2_bytes) - begin;
    body(begin, part, static_cast<Step>(chunk));
    begin += part;
  }
}

template <Machine M>
void give(M& m, const Schedule& p, const Epoch& epoch) {
  for (const Schedule::Give& each : p.gives) {
    const auto reader = static_cast<std::size_t>(each.reader);
    std::byte* const place = p.out[reader][epoch.number & 1];
    by_chunks(p.chunks, each.offset, each.bytes, [&](std::size_t begin, std::size_t bytes, Step chunk) {
      show_given(m, place + begin, each, {begin - each.offset, bytes}, p.comes_back[reader]);
      m.flush_for_readers(place + begin, bytes);
      const bool is_whole = (begin + bytes) >> p.chunks.log2_bytes > chunk;
      if (is_whole && epoch.first + chunk < epoch.last) m.publish(Channel::gather, epoch.first + chunk);
    });
  }
}

template <Machine M>
void fold_part(M& m, const Schedule& p, const Epoch& epoch, std::size_t begin, std::size_t bytes,
               std::byte* target) {
  const Schedule::Fold& fold = p.fold;
  const void** sources = m.source_array();
  for (int i = 0; i < fold.ranks; ++i) {
    const int peer = fold.first + i;
    const bool own = peer == m.rank() && fold.own;
    const std::byte* vector = own ? fold.own + begin : given_by(m, p, peer, epoch) + fold.offset + begin;
    sources[i] = own || p.inlined ? vector : begin_reading(m, vector, bytes);
  }
  m.reduce(*fold.operation, target, sources, fold.ranks, bytes);
}

/// Folds the pieces that no rank has taken yet.
template <Machine M>
void fold_pieces(M& m, const Schedule& p, const Epoch& epoch) {
  const Schedule::Shared& shared = p.shared;
  for (int piece; (piece = m.take_piece(epoch.number, shared.pieces)) >= 0;) {
    const std::size_t begin = static_cast<std::size_t>(piece) * shared.piece_bytes;
    fold_part(m, p, epoch, begin, std::min(shared.piece_bytes, p.fold.bytes - begin), shared.result + begin);
    if (m.piece_done_last(epoch.number, shared.pieces)) m.release_all(epoch.last, nullptr, 0);
  }
}

template <Machine M>
void await_sources(M& m, const Schedule& p, Step step) {
  for (const int source : p.sources) m.await(Channel::gather, source, step);
}

template <Machine M>
void take(M& m, const Schedule& p, const Epoch& epoch) {
  for (const Schedule::Take& wanted : p.takes) {
    const std::byte* given = given_by(m, p, wanted.peer, epoch);
    by_chunks(p.chunks, wanted.offset, wanted.bytes, [&](std::size_t begin, std::size_t bytes, Step chunk) {
      m.await(Channel::gather, wanted.peer, epoch.first + chunk);
      store_taken(m, wanted, {begin - wanted.offset, bytes}, begin_reading(m, given + begin, bytes));
    });
  }
}

template <Machine M>
void fold(M& m, const Schedule& p, const Epoch& epoch) {
  if (p.shared.pieces > 0) {
    await_sources(m, p, epoch.last);
    fold_pieces(m, p, epoch);
    m.await_release_all(epoch.last);
    if (p.fold.target) m.copy(p.fold.target, p.shared.result, p.fold.bytes);
    return;
  }
  by_chunks(p.chunks, p.fold.offset, p.fold.bytes, [&](std::size_t begin, std::size_t bytes, Step chunk) {
    await_sources(m, p, epoch.first + chunk);
    fold_part(m, p, epoch, begin - p.fold.offset, bytes, p.fold.target + (begin - p.fold.offset));
  });
}

}  // namespace detail

/// Gives all that this rank has to give. This rank must have completed the epoch before: then all readers of
/// its data have at least started that epoch, and so have read the data of the one before it, in whose place
/// this rank writes now. (Of a pair this rank writes where the other wrote in the epoch before, which this
/// rank alone reads.)
template <Machine M>
Epoch start(M& m, const Schedule& p) {
  const Epoch epoch = detail::next_epoch(m, p);
  if (p.inlined)
    for (const Schedule::Give& each : p.gives)
      copy_given(m, m.inline_buffer(Channel::gather, epoch.last) + each.offset, each, {0, each.bytes});
  else
    detail::give(m, p, epoch);
  m.publish(Channel::gather, epoch.last);
  move_kept(m, p.keep);
  return epoch;
}

/// Whether complete() would wait for no rank. Does not wait; may fold for others.
template <Machine M>
bool is_ready(M& m, const Schedule& p, const Epoch& epoch) {
  for (const int source : p.sources)
    if (!m.published(Channel::gather, source, epoch.last)) return false;
  for (const int reader : p.readers)
    if (!m.finished(reader, epoch.number - 1)) return false;
  if (p.shared.pieces == 0) return true;
  detail::fold_pieces(m, p, epoch);
  return m.released_all(epoch.last);
}

/// Waits for the ranks that this one needs, and takes what it wants.
template <Machine M>
void complete(M& m, const Schedule& p, const Epoch& epoch) {
  if (p.takes.empty() && p.fold.ranks == 0) detail::await_sources(m, p, epoch.last);  // a barrier
  detail::take(m, p, epoch);
  if (p.fold.ranks > 0) detail::fold(m, p, epoch);
  m.finish(epoch.number);
  // A rank that gives nothing in return shows only by its finish line that it has read.
  for (const int reader : p.readers) m.await_finish(reader, epoch.number - 1);
  m.prefetch_own_line(Channel::gather);
}

}  // namespace espalier::collective
