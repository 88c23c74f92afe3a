// The loop of the collectives in which ranks show data (write them for others, and announce them) and read
// what others show, round by round.
#pragma once

#include <array>

#include "collective/core/blocks.hpp"
#include "collective/core/chunks.hpp"

namespace espalier::collective {

/// One round: a chunk of every rank's.
struct Round {
  std::size_t index = 0;
  Steps steps{};
  /// Where this rank most likely reads next: a hint to the machine to fetch it while this round is written.
  /// nullptr: no hint.
  const void* read_next = nullptr;
  Step step() const { return steps.last(); }
};

/// How many rounds of `span` slots a rank shows ahead of the one that it reads, where it may.
template <Machine M>
std::size_t rounds_ahead(const M& m, int span) {
  return m.slots() >= 4 * span ? 1 : 0;
}

/// The rounds of one call: `count` of them, of `bytes` a rank at most, in `span` slots each.
struct Rounds {
  std::size_t count;
  int span;
  std::size_t bytes;
  /// A rank shows the next round before it reads this one, so that others need not wait for it. Not for
  /// meetings by counter, where showing is waiting.
  bool overlap;
  /// The ranks that read what this rank shows.
  std::span<const int> readers;
  /// A rank that shows data also reads.
  bool mutual = true;
  /// Two ranks may use pairwise slots, because it is worth_pairwise().
  bool can_pair = false;
  /// All data lie in pairwise cells.
  bool in_cells = false;
  /// The bytes of this message, if the next call is likely to have one like it; 0: it is not.
  std::size_t likely_again = 0;
};

/// Hints for the next exchange, if it is like this one, of which `like` is a round: what this rank writes
/// then, and what it reads.
template <Machine M>
void expect_another(M& m, const Steps& like, std::size_t bytes, std::size_t chunk) {
  m.prefetch_own_next(Channel::gather, like, bytes, chunk);
  m.prefetch_read_next(like, bytes, chunk);
}
template <Machine M>
void expect_another(M& m, const Rounds& rounds, const Steps& like) {
  if (rounds.likely_again == 0) return;
  if (rounds.mutual) return expect_another(m, like, rounds.likely_again, rounds.bytes);
  if (rounds.readers.empty())
    m.prefetch_read_next(like, rounds.likely_again, rounds.bytes);
  else
    m.prefetch_own_next(Channel::gather, like, rounds.likely_again, rounds.bytes);
}

/// Whether pairwise slots (machine/concept.hpp) are quicker for two ranks that show `one` and `other` bytes.
/// They are if both show all in one round, or about equally much. Where one rank shows much more, it would
/// have to wait for the few slots.
template <Machine M>
bool worth_pairwise(const M& m, std::size_t one, std::size_t other) {
  const std::size_t longer = std::max(one, other);
  return longer <= m.pairwise_bytes() || longer - std::min(one, other) <= longer / 8;
}

template <Machine M>
bool uses_pairwise_slots(const M& m, const Rounds& rounds) {
  return rounds.can_pair && rounds.overlap && m.size() == 2 && rounds.bytes <= m.pairwise_bytes();
}

/// Writes what another rank reads; the caller calls flush_for_readers() afterwards. In pairwise slots and
/// cells the reader has written the first `comes_back` bytes of `target`, as many as it had for this rank,
/// and this rank has read them: they are in its own cache, and copy() is right. All else is in the reader's
/// cache since it read there, and write_slot() is right. `comes_back` is 0 elsewhere. `read_next`: as in
/// Round.
template <Machine M>
void show_pairwise(M& m, std::byte* target, const void* source, std::size_t bytes, std::size_t comes_back,
                   const void* read_next = nullptr) {
  const std::size_t back = std::min(bytes, comes_back);
  if (back > 0) m.copy(target, source, back);
  if (back < bytes) m.write_slot(target + back, at(source, back), bytes - back, read_next);
}

/// The same for a part of a block.
template <Machine M>
void show_part(M& m, std::byte* target, const void* block, const Part& part, std::size_t comes_back,
               const void* read_next = nullptr) {
  show_pairwise(m, target, at(block, part.offset), part.bytes, comes_back, read_next);
}

/// How many bytes of a message a round carries at most. Pairwise slots are few, so that they stay in the
/// caches.
template <Machine M>
std::size_t round_bytes(const M& m, const Plan& plan, bool can_pair) {
  const bool has_pairwise =
      can_pair && plan.algorithm == plan::Algorithm::exchange && m.size() == 2 && m.pairwise_bytes() > 0;
  return has_pairwise ? std::min(plan.chunk, m.pairwise_bytes()) : plan.chunk;
}

template <Machine M>
Round next_round(M& m, const Rounds& rounds, std::size_t index) {
  Steps steps = m.advance(rounds.span, rounds.bytes);
  if (rounds.in_cells)
    steps = m.with_pairwise_cells(steps);
  else if (uses_pairwise_slots(m, rounds))
    steps = m.with_pairwise_slots(steps);
  return {index, steps};
}

/// The only round of a short call. All that it calls is inlined (flatten): it is most of the call's time.
template <Machine M, class Show, class Read>
[[gnu::flatten]] void in_one_round(M& m, const Rounds& rounds, const Show& show, const Read& read) {
  const Round round = next_round(m, rounds, 0);
  m.reserve(round.steps);
  show(round);
  m.set_readers(round.steps, rounds.readers);
  if (read(round)) m.all_finished(round.steps.first - 1);
  m.finish(round.step());
  expect_another(m, rounds, round.steps);
}

/// `show(round)` writes this rank's slot and announces it; `read(round)` awaits others and reads, and returns
/// whether it has heard from every rank.
template <Machine M, class Show, class Read>
void in_rounds(M& m, const Rounds& rounds, const Show& show, const Read& read) {
  if (rounds.count == 1) return in_one_round(m, rounds, show, read);
  const std::size_t count = rounds.count;
  const bool pairwise = uses_pairwise_slots(m, rounds);
  const std::size_t ahead = rounds.overlap ? rounds_ahead(m, rounds.span) : 0;
  std::array<Round, 3> under_way;
  for (std::size_t i = 0; i < count + ahead; ++i) {
    if (i < count) {
      Round& round = under_way[i % 3] = next_round(m, rounds, i);
      m.reserve(round.steps);
      // With two ranks, the other has most likely shown its round i - 1, or is about to: this rank reads it
      // next.
      if (!pairwise && i >= 1 && ahead == 1 && rounds.mutual && m.size() == 2)
        round.read_next = m.slot(1 - m.rank(), under_way[(i - 1) % 3].steps);
      show(round);
      m.set_readers(round.steps, rounds.readers);
    }
    if (i < ahead) continue;
    const Round& round = under_way[(i - ahead) % 3];
    // The rank that announced this round had finished all rounds but those that overlap with it.
    if (read(round)) m.all_finished(under_way[(i - std::min(i, 2 * ahead)) % 3].steps.first - 1);
    m.finish(round.step());
  }
  if (count > 0) expect_another(m, rounds, under_way[(count - 1) % 3].steps);
}

}  // namespace espalier::collective
