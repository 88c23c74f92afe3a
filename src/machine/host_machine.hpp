// The machine that programs run on: real shared memory, all inlined. Its text is a template over what it
// stands on, for simulate/ (host_platform.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "machine/concept.hpp"
#include "machine/copy_requests.hpp"
#include "machine/host_platform.hpp"
#include "machine/layout.hpp"
#include "machine/prefetch_hints.hpp"
#include "machine/wait.hpp"

namespace espalier::machine {

/// Models Machine over one arena share. One per communicator and rank; used by one thread at a time.
template <class Platform>
class BasicMachine {
 public:
  using Line = typename Platform::Line;
  using Waiter = typename Platform::Waiter;

  BasicMachine(std::byte* share, const Layout& layout, int rank, WaitPolicy policy, ProgressHook hook)
      : share_(share),
        layout_(layout),
        rank_(rank),
        waiter_(policy, hook),
        pairwise_bytes_(layout.pairwise_bytes()),
        pairwise_rounds_(layout.pairwise_rounds()),
        known_finished_(static_cast<std::size_t>(layout.ranks)),
        slot_readers_(static_cast<std::size_t>(layout.slots)),
        sources_(static_cast<std::size_t>(layout.ranks)),
        requests_(share, layout, rank) {
    for (int peer = 0; peer < layout.ranks; ++peer) {
      if (peer != rank) everybody_else_.push_back(peer);
      homes_.push_back({share + layout.control_block(peer), share + layout.ring(peer),
                        share + layout.pairwise_area(peer)});
    }
  }

  int rank() const { return rank_; }
  int size() const { return layout_.ranks; }
  int slots() const { return layout_.slots; }
  std::size_t slot_bytes() const { return layout_.slot_bytes; }
  std::span<const int> everybody_else() const { return everybody_else_; }
  const void** source_array() { return sources_.data(); }
  const Waiter& waiter() const { return waiter_; }

  /// What this rank's flag lines say from now on, and what its peers' are to say: all ranks alike, or
  /// `mistake` hears of it. Without it no rank compares.
  void begin_call(Fingerprint fingerprint) { waiter_.begin_call(fingerprint); }
  void on_mistake(Mistake mistake) { waiter_.on_mistake(mistake); }

  /// The next step; with `span` > 1 (a power of two, at most slots()) the first of `span` steps whose slots
  /// are contiguous. The step that is published and finished is always the last one. `bytes` is the most that
  /// lies there, on all ranks alike, where all of them know it.
  Steps advance(int span = 1, std::size_t bytes = std::numeric_limits<std::size_t>::max()) {
    const auto width = static_cast<Step>(span);
    const Step first = (last_step_ + width) & ~(width - 1);
    last_step_ = first + width - 1;
    return {.first = first, .span = span, .split = static_cast<std::uint8_t>(layout_.split_for(bytes))};
  }

  /// For calls in which no rank knows how many steps the others need: a range of which each uses as many as
  /// it wants, `span` slots a step, from `first` on. All ranks finish `last`. `bytes` as for advance(). The
  /// slots go on from half the ring beyond where one step would have led: so calls of many steps in a row do
  /// not meet in slots that are still in the readers' caches, and short ones come by all slots in turn.
  StepRange advance_open(int span, std::size_t bytes) {
    const Steps begin = advance(span, bytes);
    last_step_ += open_steps + static_cast<Step>(slots() >= 4 * span ? slots() / 2 : 0);
    return {begin, last_step_};
  }

  std::size_t pairwise_bytes() const { return pairwise_bytes_; }
  int pairwise_rounds() const { return pairwise_rounds_; }
  /// `rounds`: how many uses of an open range both ranks expect.
  Steps with_pairwise_slots(Steps steps, std::size_t rounds = 1) {
    return in_pairwise_rounds(steps, Buffers::pairwise_slots, rounds);
  }
  Steps with_pairwise_cells(Steps steps) { return in_pairwise_rounds(steps, Buffers::pairwise_cells, 1); }

  /// To messages of more than half a slot, up to two: shorter and longer ones lose in a short ring
  /// (docs/performance.md).
  Steps with_short_ring(Steps steps, std::size_t message) const {
    steps.may_be_short = steps.span == 1 && layout_.short_slots() > 0 && 2 * message > slot_bytes() &&
                         message <= 2 * slot_bytes();
    return steps;
  }

  Steps reserve(Steps steps) {
    if (steps.may_be_short) [[unlikely]] {
      steps.in_short_ring = ring_choice_.next();
      if (steps.in_short_ring) reclaim(slot_readers_[layout_.index_among_first(steps.first)]);
    }
    for (Step step = steps.first; step <= steps.last(); ++step) reclaim(slot_readers_[layout_.index(step)]);
    if (steps.buffers != Buffers::ring) reclaim(pairwise_away_[pairwise_round(steps).number]);
    return steps;
  }

  void set_readers(const Steps& steps, std::span<const int> readers) {
    const Step last = steps.last();
    for (Step step = steps.first; step <= last; ++step) slot_readers_[layout_.index(step)] = {last, readers};
    // Both: the line of the step is where it would have been.
    if (steps.in_short_ring) [[unlikely]]
      slot_readers_[layout_.index_among_first(steps.first)] = {last, readers};
    if (steps.buffers != Buffers::ring) pairwise_away_[pairwise_round(steps).number] = {last, readers};
  }

  void finish(Step step) { waiter_.signal(finish_line(rank_), step); }

  /// Until `peer` has finished `step`: it reads nothing of it any more.
  void await_finish(int peer, Step step) {
    Step& known = known_finished_[static_cast<std::size_t>(peer)];
    if (known >= step) return;
    Line& line = finish_line(peer);
    waiter_.await(line, step, peer);
    // The peer is usually far ahead: what it says now saves looks at its line, each of them a cache miss.
    // Acquire: its reads of all steps up to this one come before our next writes.
    known = line.step.load(std::memory_order_acquire);
  }

  bool finished(int peer, Step step) {
    // acquire: as in await_finish().
    return known_finished_[static_cast<std::size_t>(peer)] >= step || reached(finish_line(peer), step);
  }

  /// The caller knows that every rank has finished all steps up to this one (an algorithm in which every rank
  /// heard from every rank): reserve() then asks no rank.
  void everybody_finished(Step step) { everybody_finished_ = step; }

  void publish(Channel channel, Step step) { waiter_.signal(line(channel, rank_, step), step); }
  void publish(Channel channel, const Steps& steps) { announce(line(channel, rank_, steps.last()), steps); }

  void publish_inline(Channel channel, Step step, const void* source, std::size_t bytes) {
    Line& own = line(channel, rank_, step);
    Platform::copy_small(own.payload, source, bytes);
    waiter_.signal(own, step);
  }

  void publish_for(int peer, Channel channel, Step step, const void* source, std::size_t bytes) {
    Line& theirs = line(channel, peer, step);
    Platform::copy_small(theirs.payload, source, bytes);
    waiter_.signal(theirs, step);
  }
  void publish_for(int peer, Channel channel, const Steps& steps) {
    announce(line(channel, peer, steps.last()), steps);
  }

  void await(Channel channel, int peer, Step step) { waiter_.await(line(channel, peer, step), step, peer); }
  Steps await(Channel channel, int peer, Steps steps) {
    Line& theirs = line(channel, peer, steps.last());
    waiter_.await(theirs, steps.last(), peer);
    if (steps.may_be_short) [[unlikely]]
      Platform::copy_small(&steps.in_short_ring, theirs.payload, sizeof steps.in_short_ring);
    return steps;
  }

  bool published(Channel channel, int peer, Step step) { return reached(line(channel, peer, step), step); }

  const std::byte* inline_data(Channel channel, int peer, Step step) {
    return line(channel, peer, step).payload;
  }
  std::byte* inline_buffer(Channel channel, Step step) { return line(channel, rank_, step).payload; }
  std::byte* slot(int peer, const Steps& steps) {
    if (steps.buffers == Buffers::pairwise_slots) return pairwise_cell(peer, 1 - peer, steps);
    return home(peer).ring + (steps.in_short_ring
                                  ? layout_.index_among_first(steps.first) * layout_.slot_bytes
                                  : layout_.slot_in_ring(steps.first, steps.split));
  }
  std::byte* pairwise_cell(int writer, int reader, const Steps& steps) {
    const PairwiseRound round = pairwise_round(steps);
    const int owner = round.by_reader ? reader : writer, other = round.by_reader ? writer : reader;
    return home(owner).cells +
           Layout::index_in_area(owner, other, pairwise_rounds_, round.which) * pairwise_bytes_;
  }

  bool arrive_last(Step step) {
    // The counter never goes back: after the n-th use its lower half stands at n * size, and its upper half
    // at the sum of all fingerprints, so that the last to arrive knows whether all came to the same call.
    // Release: what this rank wrote is visible to the last to arrive; acquire: the last sees what all wrote.
    const Step mine = 1 + (Step{waiter_.fingerprint()} << 32);
    const Step arrived = line_at(layout_.arrivals()).step.fetch_add(mine, std::memory_order_acq_rel) + mine;
    all_arrived_ += mine * static_cast<Step>(layout_.ranks);
    if (static_cast<std::uint32_t>(arrived) != static_cast<std::uint32_t>(all_arrived_)) return false;
    if (arrived != all_arrived_) [[unlikely]]
      waiter_.report_mistake(no_particular_rank);
    return true;
  }

  void release_all(Step step, const void* source, std::size_t bytes) {
    Line& common = line_at(layout_.common_release(step));
    Platform::copy_small(common.payload, source, bytes);
    waiter_.signal(common, step);
  }

  const std::byte* await_release_all(Step step) {
    Line& common = line_at(layout_.common_release(step));
    waiter_.await(common, step, no_particular_rank);
    return common.payload;
  }

  bool released_all(Step step) { return reached(line_at(layout_.common_release(step)), step); }

  int take_piece(Step step, int count) {
    // relaxed: a rank that comes here has heard from all ranks (acquire), so it sees at least the counts of
    // the steps before, and what it reads and writes for its piece is ordered by that, too.
    auto& taken = line_at(layout_.pieces()).step;
    const Step pieces = static_cast<Step>(count);
    Step next = taken.load(std::memory_order_relaxed);
    while (next < step * pieces)
      if (taken.compare_exchange_weak(next, next + 1, std::memory_order_relaxed, std::memory_order_relaxed))
        return static_cast<int>(next - (step - 1) * pieces);
    return -1;
  }

  bool piece_done_last(Step step, int count) {
    // The counter never goes back. Release: this piece is written before it counts; acquire: the last to
    // count sees all of them, and says so for all.
    const Step done = line_at(layout_.arrivals()).step.fetch_add(1, std::memory_order_acq_rel) + 1;
    return done == step * static_cast<Step>(count);
  }

  /// A hint: the next message of this rank will be like this one, published on that channel, in chunks of
  /// that size. Readers of the former use still hold its lines; taken back now, while nothing waits, the
  /// round trip for that is not part of the next call. Short messages only: of longer ones the copy itself
  /// runs into the lines it needs, but not into their translations.
  void prefetch_own_next(Channel channel, const Steps& like, std::size_t bytes, std::size_t chunk) {
    constexpr std::size_t most = 16 * 1024;
    prefetch_own_line(channel);
    if (bytes <= memory::inline_capacity || like.buffers == Buffers::pairwise_slots) return;
    for_next_chunks(like, bytes, chunk, [&](const Steps& next, std::size_t part) {
      std::byte* const place = slot(rank_, next);
      hints::own_pages(place, part);
      if (bytes > most) return;
      hints::own_lines(&line(channel, rank_, next.first), sizeof(Line));
      hints::own_lines(place, part);
    });
  }
  /// A hint: the next message of this rank will ride in its line of that channel.
  void prefetch_own_line(Channel channel) {
    hints::own_lines(&line(channel, rank_, last_step_ + 1), sizeof(Line));
  }

  /// A hint: of two, the other rank's next message will be like this one, in steps like these. A touch for each
  /// of its pages: a ring has more than a program leaves in the translation cache (docs/performance.md).
  void prefetch_read_next(const Steps& like, std::size_t bytes, std::size_t chunk) {
    if (size() != 2 || bytes <= memory::inline_capacity || like.buffers == Buffers::pairwise_slots) return;
    for_next_chunks(like, bytes, chunk, [&](const Steps& next, std::size_t part) {
      hints::touch_pages(slot(1 - rank_, next), part);
    });
  }

  /// A hint: this rank reads all of that now.
  void prefetch_pages(const void* data, std::size_t bytes) { hints::begin_pages(data, bytes); }

  /// Where it helps past this core's caches, which would have to take the slot's lines back from their
  /// readers.
  void write_slot(void* target, const void* source, std::size_t bytes, const void* read_next = nullptr) {
    if (bytes > 0) unsettled_ |= slot_writer_.copy(target, source, bytes, read_next);
  }
  /// Into the slots of these steps: how long it takes may say which ring is better.
  void write_slot(const Steps& steps, void* target, const void* source, std::size_t bytes) {
    if (!steps.may_be_short || bytes == 0) return write_slot(target, source, bytes);
    unsettled_ |=
        ring_choice_.timed(bytes, [&] { return slot_writer_.copy(target, source, bytes, nullptr); });
  }

  /// What was streamed is ordered before what follows; what was not is moved to where readers find it sooner.
  void flush_for_readers(const void* data, std::size_t bytes) {
    if (std::exchange(unsettled_, false)) return Platform::settle_streams();
    hints::hand_over(data, bytes);
  }

  bool can_expose(const void* source, std::size_t bytes, bool by_kernel) {
    if (!Platform::readable_remotely(source, bytes, by_kernel)) return false;
    requests_.allow(source, bytes, waiter_.fingerprint());
    return true;
  }

  void pull(int peer, void* target, const void* source, std::size_t bytes) {
    if (!Platform::read_remotely(process_of(peer), target, source, bytes))
      requests_.fetch(waiter_, peer, target, source, bytes);
  }
  /// Copies for ranks whose pull() is refused; to be called in every wait.
  void serve_pulls() { requests_.serve(waiter_); }
  const void* view(int peer, const void* source, std::size_t bytes) {
    return Platform::view_of(process_of(peer), source, bytes);
  }

  void copy(void* target, const void* source, std::size_t bytes) { Platform::copy(target, source, bytes); }

  void reduce(const reduce::Operation& operation, void* target, const void* const* sources, int count,
              std::size_t bytes) {
    Platform::fold(operation, target, sources, count, bytes);
  }

 private:
  static constexpr int no_particular_rank = -1;
  struct SlotReaders {
    Step step = 0;
    std::span<const int> readers;
  };

  /// Where a rank's parts of the share begin: worked out once, for a short call asks for them many times.
  struct Home {
    std::byte *control_block, *ring, *cells;
  };
  const Home& home(int rank) const { return homes_[static_cast<std::size_t>(rank)]; }

  // Says which ring the data are in, where the writer could choose.
  void announce(Line& line, const Steps& steps) {
    if (steps.may_be_short) [[unlikely]]
      Platform::copy_small(line.payload, &steps.in_short_ring, sizeof steps.in_short_ring);
    waiter_.signal(line, steps.last());
  }

  Steps in_pairwise_rounds(Steps steps, Buffers buffers, std::size_t rounds) {
    steps.buffers = buffers;
    steps.round = pairwise_;
    pairwise_ += rounds;
    return steps;
  }

  void reclaim(SlotReaders& held) {
    if (held.step <= everybody_finished_) return;
    for (const int reader : held.readers) await_finish(reader, held.step);
    held.step = 0;
  }

  /// Which cells a round lies in.
  struct PairwiseRound {
    std::size_t number;  ///< of those that lie there, either way
    int which;
    bool by_reader;  ///< in the reader's, else in the writer's
  };
  /// So many rounds lie there at a time; then the ranks change places.
  PairwiseRound pairwise_round(const Steps& steps) const {
    const int rounds = pairwise_rounds_;  // 1 or 2
    const auto number = static_cast<std::size_t>(steps.round) & static_cast<std::size_t>(2 * rounds - 1);
    return {number, static_cast<int>(number) & (rounds - 1), number >= static_cast<std::size_t>(rounds)};
  }

  /// Calls body(steps, bytes) for the chunks that the next message would have if it were like this one, in
  /// steps like these, as far as it is worth it. Without a division: this is part of every short call.
  template <class Body>
  void for_next_chunks(Steps next, std::size_t bytes, std::size_t chunk, Body body) {
    constexpr std::size_t farthest = 64 * 1024;
    const Step span = chunk <= slot_bytes() ? 1 : std::bit_ceil((chunk + slot_bytes() - 1) / slot_bytes());
    next.first = (last_step_ + span) & ~(span - 1);
    const std::size_t end = std::min(bytes, farthest);
    for (std::size_t done = 0; done < end; done += chunk, next.first += span)
      body(next, std::min(chunk, end - done));
  }

  pid_t process_of(int peer) const {
    pid_t process = 0;
    std::memcpy(&process, share_ + layout_.process(peer), sizeof process);
    return process;
  }

  // acquire: pairs with the release in signal(), as await() does.
  static bool reached(const Line& line, Step step) {
    return line.step.load(std::memory_order_acquire) >= step;
  }

  Line& line_at(std::size_t offset) { return line_of(share_ + offset); }
  static Line& line_of(std::byte* place) { return *reinterpret_cast<Line*>(place); }
  Line& line(Channel channel, int peer, Step step) {
    return line_of(home(peer).control_block + layout_.line_in_control_block(static_cast<int>(channel), step));
  }
  Line& finish_line(int peer) { return line_of(home(peer).control_block); }

  std::byte* share_;
  Layout layout_;
  int rank_;
  Waiter waiter_;
  std::size_t pairwise_bytes_;
  int pairwise_rounds_;
  std::vector<Home> homes_;  // by rank
  Step last_step_ = 0;
  Step everybody_finished_ = 0;
  Step all_arrived_ = 0;              // where the counter of arrivals stands once all have come
  std::vector<Step> known_finished_;  // by peer
  std::vector<SlotReaders> slot_readers_;
  std::vector<int> everybody_else_;
  std::vector<const void*> sources_;
  typename Platform::SlotWriter slot_writer_;
  typename Platform::RingChoice ring_choice_;
  Step pairwise_ = 0;  // rounds so far
  std::array<SlotReaders, 4> pairwise_away_;
  bool unsettled_ = false;  // what was shown is not ordered before a flag yet
  CopyRequests<Platform> requests_;
};

/// On real memory.
using HostMachine = BasicMachine<HostPlatform>;

static_assert(Machine<HostMachine>);

}  // namespace espalier::machine
