// What an algorithm may do: the one text of collective/ runs on any Machine (DESIGN, idea 3).
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "machine/steps.hpp"
#include "memory/flag_line.hpp"
#include "reduce/operation.hpp"

namespace espalier::machine {

/// Which of a rank's flag lines: data and arrivals flow up on `gather`, down on `release`.
enum class Channel : int { gather, release };

/// The ranks of one communicator seen from one of them.
///
/// Every rank owns, per slot, one flag line a channel and one slot of data. A *step* is one use of a slot;
/// all ranks take the same steps in the same order. The contract of a step:
///  1. advance() gives its number, and where its data lie, as a value (machine/steps.hpp). A chunk larger than
///     a slot spans several slots that lie side by side, and takes a step in each; one that is known to be
///     shorter takes a part of a slot, on all ranks the same. advance_open() gives a range of steps, where
///     ranks need different numbers of them and do not know each other's;
///  2. reserve() waits until the ranks that read this slot's former content have finished, before anything is
///     written;
///  3. set_readers() says who will read what this rank wrote (no rank: no need to say so);
///  4. finish() says that this rank reads nothing more of this step. Every rank finishes every step, in
///     order.
///
/// Ranks that write something for each other in every round may use *pairwise* cells: each writes where it
/// has read before. Those lines are in its own cache, where a slot of its own would have to be taken back
/// from its readers. with_pairwise_cells() gives the same steps with such cells beside their slots: what
/// `writer` writes for `reader` goes to pairwise_cell(). with_pairwise_slots(), of two ranks, gives steps of
/// which slot() is in such a cell. Every rank calls them, in the order of the steps. The contract is the same,
/// and in addition a rank writes nothing for another before it has read what that showed pairwise_rounds()
/// rounds before.
///
/// In with_short_ring() of the steps of a chunk of a `message` the rank that writes may put it in another slot
/// than its own: reserve() gives the steps with its choice, publish() says it in the flag line, and await()
/// gives the steps with the choice that it finds there. So nothing else rides in that line, and one rank alone
/// writes.
template <class M>
concept Machine =
    requires(M m, const M c, int peer, Step step, const Steps& steps, Channel channel, const void* source,
             void* target, std::size_t bytes, std::span<const int> readers,
             const reduce::Operation& operation, const void* const* sources, int count, bool by_kernel) {
      { c.rank() } -> std::same_as<int>;
      { c.size() } -> std::same_as<int>;
      { c.slot_bytes() } -> std::same_as<std::size_t>;
      { c.slots() } -> std::same_as<int>;
      { c.everybody_else() } -> std::convertible_to<std::span<const int>>;
      { m.source_array() } -> std::same_as<const void**>;  // room for size() pointers

      { m.advance(count) } -> std::same_as<Steps>;
      { m.advance(count, bytes) } -> std::same_as<Steps>;
      { m.advance_open(count, bytes) } -> std::same_as<StepRange>;
      { c.pairwise_bytes() } -> std::same_as<std::size_t>;  // of a pairwise cell; 0: there are none here
      { c.pairwise_rounds() } -> std::same_as<int>;
      { m.with_pairwise_slots(steps) } -> std::same_as<Steps>;
      { m.with_pairwise_slots(steps, bytes) } -> std::same_as<Steps>;  // so many uses of open steps
      { m.with_pairwise_cells(steps) } -> std::same_as<Steps>;
      { c.with_short_ring(steps, bytes) } -> std::same_as<Steps>;
      { m.reserve(steps) } -> std::same_as<Steps>;
      m.set_readers(steps, readers);
      m.finish(step);
      m.await_finish(peer, step);
      m.everybody_finished(step);
      { m.finished(peer, step) } -> std::same_as<bool>;  // what await_finish() would find

      /// Announces all that this rank has written before (release).
      m.publish(channel, step);
      m.publish(channel, steps);  // and which ring the data are in
      /// The same with up to memory::inline_capacity bytes in the flag line itself.
      m.publish_inline(channel, step, source, bytes);
      /// Writes the line of a peer that never writes it itself (children's release lines, when they do not
      /// read from parent).
      m.publish_for(peer, channel, step, source, bytes);
      m.publish_for(peer, channel, steps);  // and which ring the data are in
      /// Until `peer` has published `step` (acquire): what it wrote before is visible afterwards.
      m.await(channel, peer, step);
      { m.await(channel, peer, steps) } -> std::same_as<Steps>;    // and which ring the data are in
      { m.published(channel, peer, step) } -> std::same_as<bool>;  // what await() would find (acquire, too)
      { m.inline_data(channel, peer, step) } -> std::same_as<const std::byte*>;
      { m.inline_buffer(channel, step) } -> std::same_as<std::byte*>;
      { m.slot(peer, steps) } -> std::same_as<std::byte*>;
      { m.pairwise_cell(peer, peer, steps) } -> std::same_as<std::byte*>;

      /// One arrival counter for all (acquire and release); true for the last of the step, which releases the
      /// others.
      { m.arrive_last(step) } -> std::same_as<bool>;
      m.release_all(step, source, bytes);
      { m.await_release_all(step) } -> std::same_as<const std::byte*>;
      { m.released_all(step) } -> std::same_as<bool>;  // what await_release_all() would find (acquire, too)

      /// Work of a step that is cut in `count` pieces, in every step as many, and done by the ranks that come
      /// by: the next piece that none has taken, or -1. Only after every rank has published the step.
      { m.take_piece(step, count) } -> std::same_as<int>;
      /// A piece that this rank has taken is done (acquire and release); true for the last of the step, which
      /// releases the others.
      { m.piece_done_last(step, count) } -> std::same_as<bool>;

      /// Whether a buffer of this process can be read by others with pull(): always if it lies in the
      /// process's shared heap, else where the kernel copies from there and that is wanted.
      { m.can_expose(source, bytes, by_kernel) } -> std::same_as<bool>;
      /// Copies from `source` in the memory of `peer`, which has exposed it in this call and keeps it
      /// unchanged until this rank finishes the step. What the system refuses the peer copies, in its waits.
      m.pull(peer, target, source, bytes);
      /// Where this rank can read, until it finishes the step, what lies at `source` in the shared heap of
      /// `peer`. nullptr: it cannot be mapped any more; pull() gets it.
      { m.view(peer, source, bytes) } -> std::same_as<const void*>;
      m.copy(target, source, bytes);
      /// A hint: the next message of this rank will be like this one, published on that channel, cut alike,
      /// in steps like these.
      m.prefetch_own_next(channel, steps, bytes, bytes);
      /// A hint: the next message of this rank will ride in its line of that channel.
      m.prefetch_own_line(channel);
      /// A hint: of two ranks, the other's next message will be like this one, cut alike, in steps like these.
      m.prefetch_read_next(steps, bytes, bytes);
      /// A hint: this rank reads all of that now, which another has just written.
      m.prefetch_pages(source, bytes);
      /// copy() into this rank's own slot, for others to read; flush_for_readers() comes before it is
      /// published.
      m.write_slot(target, source, bytes);
      m.write_slot(target, source, bytes, source);  // and a hint: this rank reads there next
      m.write_slot(steps, target, source, bytes);   // into the slots of these steps
      /// What lies there, shown or written otherwise, is complete.
      m.flush_for_readers(target, bytes);
      m.reduce(operation, target, sources, count, bytes);
    };

}  // namespace espalier::machine
