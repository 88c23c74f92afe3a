// What an algorithm may do: the one text of collective/ runs on any Machine (DESIGN, idea 3). Each part of it
// has a concept of its own.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "machine/agreed.hpp"
#include "machine/fingerprint.hpp"
#include "machine/steps.hpp"
#include "memory/flag_line.hpp"
#include "reduce/operation.hpp"

namespace espalier::machine {

/// Which of a rank's flag lines: data and arrivals flow up on `gather`, down on `release`.
enum class Channel : int { gather, release };

/// The ranks of one communicator seen from one of them.
template <class M>
concept KnowsRanks = requires(const M c) {
  { c.rank() } -> std::same_as<int>;
  { c.size() } -> std::same_as<int>;
  { c.other_ranks() } -> std::convertible_to<std::span<const int>>;
};

/// A *step* is one use of a slot and its flag lines; all ranks take the same steps in the same order.
/// advance() gives the number of the next one, and where its data lie, as a value. A chunk larger than a slot
/// spans several slots that lie side by side, and takes a step in each; one that is known to be shorter takes
/// a part of a slot, on all ranks the same. advance_open() gives a range of steps, where ranks need different
/// numbers of them and do not know each other's.
///
/// finish() says that this rank reads nothing more of a step. Every rank finishes every step, in order.
template <class M>
concept TakesSteps = requires(M m, const M c, int peer, int span, std::size_t bytes, Step step) {
  { m.advance(span) } -> std::same_as<Steps>;
  { m.advance(span, bytes) } -> std::same_as<Steps>;  // no more lie there, on all ranks
  { m.advance_open(span, bytes) } -> std::same_as<StepRange>;
  m.finish(step);
  m.await_finish(peer, step);
  { m.finished(peer, step) } -> std::same_as<bool>;  // what await_finish() would find
  /// Whether this rank knows that without a look: it looked before, or has heard so, and noted it.
  { c.known_finished(peer, step) } -> std::same_as<bool>;
  m.note_finished(peer, step);
  /// The caller knows that every rank has finished all steps up to this one (an algorithm in which every rank
  /// heard from every rank): reserve() then asks no rank.
  m.all_finished(step);
};

/// Every rank owns one flag line a channel and slot. It says which step its writer has published, and up to
/// memory::inline_capacity bytes of data ride in it.
template <class M>
concept HasFlagLines = requires(M m, int peer, Step step, Channel channel, const void* source,
                                std::size_t bytes, const PairLengths& lengths) {
  /// Announces all that this rank has written before (release).
  m.publish(channel, step);
  /// The same with data in the flag line itself.
  m.publish_inline(channel, step, source, bytes);
  /// Writes the line of a peer that never writes it itself (children's release lines, when they do not
  /// read from parent).
  m.publish_for(peer, channel, step, source, bytes);
  /// Until `peer` has published `step` (acquire): what it wrote before is visible afterwards.
  m.await(channel, peer, step);
  /// The same where the line announces a block of `bytes` to one reader. await_block() returns how long it is;
  /// that is `bytes` of the reader, or less, for it throws where the block is longer.
  m.publish_block(channel, step, bytes);
  { m.await_block(channel, peer, step, bytes) } -> std::same_as<std::size_t>;
  /// Of two ranks that exchange blocks: the line says what this rank sends, and expects; await_pair() returns that
  /// of the other, and expects it to be `lengths`.
  m.publish_pair(channel, step, bytes, bytes);
  { m.await_pair(channel, peer, step, lengths) } -> std::same_as<PairLengths>;
  /// As await(), where the peer names this rank as a reader if it publishes the step. False: it has not.
  { m.await_exactly(channel, peer, step) } -> std::same_as<bool>;
  /// The peer has said otherwise how much it sends; throws if that is more than this rank expects.
  m.compare_lengths(peer, bytes, bytes);
  m.refuse_length(peer, bytes, bytes);        // throws in any case
  m.refuse_length(peer, bytes, bytes, true);  // what this rank sends to the peer, not the other way
  { m.published(channel, peer, step) } -> std::same_as<bool>;  // what await() would find (acquire, too)
  { m.inline_data(channel, peer, step) } -> std::same_as<const std::byte*>;
  { m.inline_buffer(channel, step) } -> std::same_as<std::byte*>;
};

/// Every rank owns a ring of slots, for data that do not ride in lines:
///  1. reserve() waits until the ranks that read these slots' former content have finished, before anything
///     is written, or published on a gather line;
///  2. set_readers() says who will read what this rank wrote (no rank: no need to say so).
///
/// In with_short_ring() of the steps of a chunk of a `message` the rank that writes may put it in another
/// slot than its own: reserve() gives the steps with its choice, publish() says it in the flag line, and
/// await() gives the steps with the choice that it finds there. So nothing else rides in that line, and one
/// rank alone writes.
template <class M>
concept HasSlots = requires(M m, const M c, int peer, const Steps& steps, Channel channel, const void* source,
                            void* target, std::size_t bytes, std::span<const int> readers) {
  { c.slots() } -> std::same_as<int>;
  { c.slot_bytes() } -> std::same_as<std::size_t>;
  { c.with_short_ring(steps, bytes) } -> std::same_as<Steps>;
  { m.reserve(steps) } -> std::same_as<Steps>;
  m.set_readers(steps, readers);
  { m.slot(peer, steps) } -> std::same_as<std::byte*>;
  m.publish(channel, steps);
  m.publish_for(peer, channel, steps);
  { m.await(channel, peer, steps) } -> std::same_as<Steps>;
  m.publish_block(channel, steps, bytes);
  { m.found(channel, peer, steps) } -> std::same_as<Steps>;  // after await_block() of the step
  { c.next_step(1) } -> std::same_as<Step>;  // which advance() of so many slots gives next to publish
  /// A copy into this rank's own slots, or other memory that others read; flush_for_readers() comes before it
  /// is published. `read_next`: a hint where this rank reads next.
  m.write_slot(steps, target, source, bytes);
  m.write_slot(target, source, bytes);
  m.write_slot(target, source, bytes, source);
  /// What lies there, written by write_slot() or otherwise, is complete.
  m.flush_for_readers(target, bytes);
};

/// Ranks that write something for each other in every round may use *pairwise* cells: each writes where it
/// has read before. Those lines are in its own cache, where a slot of its own would have to be taken back
/// from its readers. with_pairwise_cells() gives the same steps with such cells beside their slots: what
/// `writer` writes for `reader` goes to pairwise_cell(). with_pairwise_slots(), of two ranks, gives steps of
/// which slot() is in such a cell. Every rank calls them, in the order of the steps. The contract of slots
/// holds, and in addition a rank writes nothing for another before it has read what that showed
/// pairwise_rounds() rounds before.
template <class M>
concept HasPairwiseBuffers =
    requires(M m, const M c, int writer, int reader, const Steps& steps, std::size_t uses) {
      { c.pairwise_bytes() } -> std::same_as<std::size_t>;  // of a cell; 0: there are none here
      { c.pairwise_rounds() } -> std::same_as<int>;
      { m.with_pairwise_slots(steps) } -> std::same_as<Steps>;
      { m.with_pairwise_slots(steps, uses) } -> std::same_as<Steps>;  // so many uses of open steps
      { m.with_pairwise_cells(steps) } -> std::same_as<Steps>;
      { m.pairwise_cell(writer, reader, steps) } -> std::same_as<std::byte*>;
    };

/// Counters that all ranks share.
template <class M>
concept HasCounters = requires(M m, Step step, const void* source, std::size_t bytes, int count) {
  /// One arrival counter for all (acquire and release); true for the last of the step, which releases the
  /// others.
  { m.arrive_last(step) } -> std::same_as<bool>;
  m.release_all(step, source, bytes);
  { m.await_release_all(step) } -> std::same_as<const std::byte*>;
  { m.released_all(step) } -> std::same_as<bool>;  // what await_release_all() would find (acquire, too)
  /// Work of a step that is cut in `count` pieces, in every step as many, and done by the ranks that come by:
  /// the next piece that none has taken, or -1. Only after every rank has published the step.
  { m.take_piece(step, count) } -> std::same_as<int>;
  /// A piece that this rank has taken is done (acquire and release); true for the last of the step, which
  /// releases the others.
  { m.piece_done_last(step, count) } -> std::same_as<bool>;
};

/// Flag lines in memory that all ranks share, but that lie elsewhere than in the share. A place is aligned as a
/// FlagLine.
template <class M>
concept HasPlacedLines = requires(M m, const M c, std::byte* place, int peer, Step step, int count,
                                  std::uint64_t value, std::size_t bytes) {
  m.clear_line(place);  // before any other rank knows of it
  m.signal_at(place, step);
  m.await_at(place, step, peer);
  { m.reached_at(place, step) } -> std::same_as<bool>;
  m.prefetch_own_at(place, bytes);  // a hint: this rank will write all of that soon
  { m.payload_at(place) } -> std::same_as<std::byte*>;
  /// As take_piece() and piece_done_last(), of work that is done once, from a cleared line.
  { m.take_piece_at(place, count) } -> std::same_as<int>;
  { m.piece_done_last_at(place, count) } -> std::same_as<bool>;
  /// What the line says of its writer's call, once it has shown the step; report_mistake() throws if the
  /// ranks are in different calls.
  { m.said_at(place) } -> std::same_as<Fingerprint>;
  c.report_mistake(peer);
  /// The first rank that comes to this turn of the line's use decides what all of them hear there (acquire
  /// and release). agreed_at(): what that is, if a rank has come.
  { m.agree_at(place, step, value) } -> std::same_as<Agreed>;
  { m.agreed_at(place, step) } -> std::same_as<std::optional<std::uint64_t>>;
  /// A hint to ranks that come together: that one of them makes a value, and what it says within so many looks.
  { m.claim_at(place, step) } -> std::same_as<bool>;
  { m.agreed_soon_at(place, step, count) } -> std::same_as<std::optional<std::uint64_t>>;
};

/// Memory of other ranks that is read where it lies.
template <class M>
concept ReadsDirectly =
    requires(M m, int peer, void* target, const void* source, std::size_t bytes, bool by_kernel) {
      /// Whether a buffer of this process can be read by others with pull(): always if it lies in the
      /// process's shared heap, else where the kernel copies from there and that is wanted.
      { m.can_expose(source, bytes, by_kernel) } -> std::same_as<bool>;
      /// Copies from `source` in the memory of `peer`, which has exposed it in this call and keeps it
      /// unchanged until this rank finishes the step. What the system refuses the peer copies, in its waits.
      m.pull(peer, target, source, bytes);
      /// As pull(). False: the system refuses it.
      { m.try_pull(peer, target, source, bytes) } -> std::same_as<bool>;
      /// Whether this rank knows that the system has refused a rank of the node to read by the kernel.
      { m.knows_refused_reads() } -> std::same_as<bool>;
      /// Where this rank can read, until it finishes the step, what lies at `source` in the shared heap of
      /// `peer`. nullptr: it cannot be mapped any more; pull() gets it.
      { m.view(peer, source, bytes) } -> std::same_as<const void*>;
    };

/// Moves data.
template <class M>
concept Copies = requires(M m, void* target, const void* source, std::size_t bytes, std::ptrdiff_t step,
                          std::size_t runs) {
  m.copy(target, source, bytes);
  /// So many runs of `bytes`; the steps are from the beginning of one to that of the next.
  m.copy_runs(target, step, source, step, bytes, runs);
};

/// What is done to data.
template <class M>
concept HasKernels =
    Copies<M> && requires(M m, void* target, std::size_t bytes, const reduce::Operation& operation,
                          const void* const* sources, int count) {
      m.reduce(operation, target, sources, count, bytes);
      { m.source_array() } -> std::same_as<const void**>;  // room for size() pointers
    };

/// Hints, which change no result.
template <class M>
concept TakesHints = requires(M m, Channel channel, const Steps& like, const void* source, std::size_t bytes,
                              std::size_t chunk) {
  /// The next message of this rank will be like this one, published on that channel, cut alike, in steps like
  /// these.
  m.prefetch_own_next(channel, like, bytes, chunk);
  /// The next message of this rank will ride in its line of that channel.
  m.prefetch_own_line(channel);
  /// Of two ranks, the other's next message will be like this one, cut alike, in steps like these.
  m.prefetch_read_next(like, bytes, chunk);
  /// This rank reads all of that now, which another has just written.
  m.prefetch_pages(source, bytes);
};

template <class M>
concept Machine = KnowsRanks<M> && TakesSteps<M> && HasFlagLines<M> && HasSlots<M> && HasPairwiseBuffers<M> &&
                  HasCounters<M> && HasPlacedLines<M> && ReadsDirectly<M> && HasKernels<M> && TakesHints<M>;

}  // namespace espalier::machine
