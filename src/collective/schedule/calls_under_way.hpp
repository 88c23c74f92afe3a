// All nonblocking collectives that are under way on a communicator, on one rank.
//
// MPI has the ranks call collectives on a communicator in one order, so each comes to the same number for a
// call by itself. The number is a step of a machine, and says which flag lines the call has (line_pages.hpp).
// A start waits for no rank: where memory for its data is missing the ranks leave the call to the host, all
// alike, for the first one that comes decides. Should memory be missing all the same, because others have
// taken it meanwhile or because a rank gives more than the first one knows, the rank gives its data in memory of its
// own. Where others may not read that, it gives them later, in any call in which it looks at its requests or waits.
// Where a thread of its own looks as well, a start leaves long data to that.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "collective/schedule/call_under_way.hpp"
#include "collective/schedule/exposure_end.hpp"
#include "collective/schedule/given_buffers.hpp"
#include "collective/schedule/memory_demand.hpp"
#include "collective/schedule/own_buffers.hpp"

namespace espalier::collective {

inline constexpr int usual_log2_chunk = 15;
inline constexpr std::size_t never_later = std::numeric_limits<std::size_t>::max();

/// The memory that the ranks share for their calls. `Memory` as in GivenBuffers.
template <class Memory>
struct CallMemory {
  CallArea area;  ///< all that is shared; the ranks tell each other places as distances from its base
  std::byte*
      pages;  ///< of the first pages of lines, side by side, which are clear: two of LinePages::bytes()
  Memory memory;
  std::size_t most;                   ///< for the data of all calls of all ranks that are under way
  int log2_chunk = usual_log2_chunk;  ///< no chunk ends within an element
  bool reads_own_memory = false;      ///< ranks may read each other's own memory; all know that alike
  std::size_t expose_from = least_exposed(1);  ///< may_expose()
  std::size_t later_from = never_later;  ///< of so many bytes a call is long, and its start gives them later
};

/// Used by one thread at a time. `calls_in_page`: of LinePages.
template <class M, class Memory, int calls_in_page = 16>
class CallsUnderWay {
 public:
  CallsUnderWay(M& machine, const CallMemory<Memory>& memory)
      : m_(machine),
        area_(memory.area),
        log2_chunk_(memory.log2_chunk),
        reads_own_memory_(memory.reads_own_memory),
        expose_from_(memory.expose_from),
        later_from_(memory.later_from),
        pages_(memory.area, memory.pages, machine.size(), memory.memory),
        buffers_(memory.memory),
        demand_(memory.most) {}

  /// The next call of the communicator, whose spec is there. It lies still until it is done. False, on all
  /// ranks alike: there is no memory for it, and it is not under way.
  bool start(CallUnderWay& call) {
    return start(call, [&] { return may_take_memory(call); });
  }

  /// The same of a short call in which the ranks agree on a word, too: that of the first one that comes,
  /// `offer()`. Ranks that come meanwhile look `looks` times for it before they make one of their own: making takes
  /// memory, which they would all take under the arena's lock. 0: it is not under way.
  template <class Offer>
  machine::Agreed start_agreeing(CallUnderWay& call, Offer offer, int looks) {
    machine::Agreed agreed{0, false};
    start(call, [&] {
      std::byte* const place = pages_.agreement(call.number);
      auto said = m_.agreed_at(place, call.number);
      if (!said && !m_.claim_at(place, call.number)) said = m_.agreed_soon_at(place, call.number, looks);
      agreed = said ? machine::Agreed{*said, false} : m_.agree_at(place, call.number, offer());
      return agreed.value != 0;
    });
    return agreed;
  }

  /// Takes what has come for a call; true: it is done. Waits for no rank.
  bool advance(CallUnderWay& call) {
    if (!call.done && !call.published)
      advance_all();  // those before it may hold what it needs
    else if (!call.done && take(call))
      finish_in_order();
    return call.done;
  }

  /// The same for all calls that no rank sleeps for, the oldest first: what others need of this rank does not
  /// depend on which of them the program asks for.
  void advance_all() {
    bool may_publish = true;  // in order: see publish()
    for (std::size_t i = 0; i < in_order_.size(); ++i) {
      CallUnderWay* const call = in_order_[i].call;
      if (!call || call->awaited) continue;
      if (!call->published) {
        may_publish = may_publish && publish(*call);
        if (!may_publish) continue;
        --unpublished_;
      }
      take(*call);
    }
    finish_in_order();
  }

  /// The program gives up a call, done or not: this rank reads nothing of it any more.
  void forget(const CallUnderWay& call) {
    for (Started& each : in_order_)
      if (each.call == &call) {
        each.call = nullptr;
        if (!call.published) --unpublished_;
        if (call.length.is_exchanged) buffers_.lose(each.number);
      }
    finish_in_order();
  }

  bool is_empty() const { return in_order_.empty(); }
  /// How many calls this rank has completed, and whether there is a long one that it has not.
  std::uint64_t completed() const { return completed_; }
  bool has_long() const {
    return std::any_of(in_order_.begin(), in_order_.end(),
                       [](const Started& each) { return each.call && each.call->is_long; });
  }
  /// Whether a start still has to give its data.
  bool has_unpublished() const { return unpublished_ > 0; }
  GivenBuffers<Memory>& buffers() { return buffers_; }
  using Pages = LinePages<Memory, calls_in_page>;
  Pages& pages() { return pages_; }

 private:
  template <class IsOurs>
  bool start(CallUnderWay& call, IsOurs decide) {
    if (is_closed_) return false;
    call.number = m_.advance(1).last();
    is_closed_ = !pages_.open(m_, call.number);
    if (is_closed_) return false;
    call.lines = pages_.lines(call.number);
    if (call.is_brief) {
      call.spec.given_bytes = given_in_brief(call.spec, call.brief, {m_.rank(), m_.size()});
      call.length = brief_buffer_length(call.spec, call.brief, m_.size());
    } else {
      call.length = buffer_length(call.spec, m_.size());
    }
    const bool is_ours = decide();
    call.is_long = later_from_ != never_later && is_long(call);
    in_order_.push_back({call.number, is_ours ? &call : nullptr});
    if (!is_ours)
      leave_to_host(call);
    else if (unpublished_ > 0 || (call.is_long && gives_later(call)) || !publish(call))
      ++unpublished_;
    return is_ours;
  }

  bool gives_later(const CallUnderWay& call) const { return call.spec.given_bytes >= later_from_; }
  bool is_long(const CallUnderWay& call) const {
    return !call.is_brief && (gives_later(call) || bytes_wanted(call) >= later_from_);
  }
  /// By a call that is not brief.
  static std::size_t bytes_wanted(const CallUnderWay& call) {
    std::size_t wanted = call.spec.fold.bytes;
    for (const Schedule::Take& each : call.spec.wants) wanted += each.bytes;
    return wanted;
  }

  /// Whether the call is served, as the first rank that came to it has decided, or to one shortly before it:
  /// each agreement is a line that goes from rank to rank.
  bool may_take_memory(const CallUnderWay& call) {
    if (!may_need_buffer(call.spec, m_.size())) return true;
    if (lengths_are_unknown(call.spec)) return may_take_unknown_memory(call);
    const std::size_t bytes = bytes_of_all(call.spec, m_.size());
    // What was granted to others says nothing of room for a result that has to lie in shared memory.
    const bool needs_room = reads_own_memory_ && folds_in_common(call.spec, m_.size());
    if (!needs_room && demand_.takes_of_grant(call.number, bytes)) return true;
    const std::size_t mine = has_room(call, bytes) ? demand_.offer(m_, bytes) : 0;
    const std::uint64_t grant = m_.agree_at(pages_.agreement(call.number), call.number, mine).value;
    if (grant == 0) return false;
    demand_.take_new_grant(call.number, bytes, grant, Pages::last_in_page(call.number));
    return true;
  }

  /// The same where a rank may give more than there is memory: no rank knows before, so it must do without shared memory.
  /// What was granted to a short call calls that follow take, too.
  bool may_take_unknown_memory(const CallUnderWay& call) {
    if (!reads_own_memory_) return false;
    const std::size_t bytes = bytes_of_all(call.spec, m_.size());
    if (demand_.takes_of_unknown_grant(call.number, bytes)) return true;
    std::uint64_t mine = UnknownGrant::refused;
    if (has_room(call, bytes) && demand_.offer(m_, bytes) > 0)
      mine = seems_short(call, bytes) ? UnknownGrant::of_page : UnknownGrant::of_call;
    const std::uint64_t grant = m_.agree_at(pages_.agreement(call.number), call.number, mine).value;
    if (grant == UnknownGrant::refused) return false;
    demand_.take_unknown_grant(
        call.number, bytes, grant == UnknownGrant::of_page ? Pages::last_in_page(call.number) : call.number);
    return true;
  }

  /// As far as this rank knows. Those that follow a long one may be as long, and take the ranks' own memory.
  bool seems_short(const CallUnderWay& call, std::size_t bytes_of_all) const {
    constexpr std::size_t longest = 1 << 20;
    return call.is_brief || std::max(bytes_of_all, bytes_wanted(call)) <= longest;
  }

  /// Whether there is memory for the buffers of all ranks now, or none is needed: with some to spare, for the other
  /// ranks come later. What a rank keeps of earlier calls the others have, too. Where reads have been refused since the ranks
  /// met no rank gives anything in memory of its own any more; the others need not know, since this rank decides for all.
  bool has_room(const CallUnderWay& call, std::size_t bytes) {
    const bool others_read = reads_own_memory_ && !m_.knows_refused_reads();
    if (others_read && !folds_in_common(call.spec, m_.size())) return true;
    if (!others_read && lengths_are_unknown(call.spec)) return false;
    return (call.length.bytes > 0 && buffers_.next_like(m_, call.length)) ||
           buffers_.memory().has_room(2 * bytes);
  }

  /// Others may look whether this rank has come so far.
  void leave_to_host(const CallUnderWay& call) {
    m_.signal_at(call.lines.of(m_.rank()), call.number);
    finish_in_order();
  }

  /// A rank gives its data in the order of the calls: so memory belongs to the older call first, because the
  /// others finish the younger call only after it. Hence, of all starts that wait for memory anywhere, the one
  /// with the lowest number waits for calls alone that all ranks can finish.
  bool publish(CallUnderWay& call) {
    if (!call.is_brief && expose(call)) return true;
    Room room;
    if (call.length.bytes > 0) {
      room = take_room(call, call.length);
      if (!room.data) return false;
    }
    call.offers_buffer = room.data && !room.is_own && call.length.is_exchanged;
    m_.begin_call(call.fingerprint);
    const Giving giving{call.number, call.lines.of(m_.rank()), finished_};
    if (call.is_brief)
      give_brief(m_, call.spec, call.brief, giving, area_.base, room, log2_chunk_);
    else
      give_data(m_, call.spec, giving, area_.base, room, log2_chunk_);
    call.published = true;
    prefetch_next_line(call.number + 1);
    return true;
  }

  /// False: the call's blocks are copied.
  bool expose(CallUnderWay& call) {
    if (!reads_own_memory_ || !may_expose(call.spec, m_.size(), expose_from_)) return false;
    if (!can_expose_given(m_, call.spec)) return false;
    std::byte* const buffer = buffers_.take(m_, {ExposureLines::bytes(m_.size())}, call.number);
    if (!buffer) return false;
    call.exposure.lines = {buffer};
    m_.begin_call(call.fingerprint);
    const Giving giving{call.number, call.lines.of(m_.rank()), finished_};
    expose_given(m_, call.spec, giving, area_.base, call.exposure.lines);
    call.published = true;
    return true;
  }

  /// Whether the program may write again what this rank has exposed.
  bool may_write_again(CallUnderWay& call) {
    return !call.exposure.lines.buffer || have_readers_ended(m_, call, area_.base, [&](std::size_t bytes) {
      return take_room(call, {bytes});
    });
  }

  /// The result of a fold in common, which all ranks write, lies in rank 0's buffer.
  Room take_room(const CallUnderWay& call, BufferLength length) {
    if (std::byte* const data = buffers_.take(m_, length, call.number)) return {data, false};
    const bool others_write = m_.rank() == 0 && folds_in_common(call.spec, m_.size());
    if (!reads_own_memory_ || others_write) return {};
    return {own_buffers_.take(m_, length.bytes, call.number), true};
  }

  /// Of two ranks. This one has read what the other gave.
  void exchange_buffers(const CallUnderWay& call) {
    std::byte* const line = call.lines.of(1 - m_.rank());
    if (std::byte* const data = exchanged_buffer(m_, call.spec.given_bytes, line, area_))
      buffers_.exchange(call.number, data);
  }

  /// What this rank writes in the next call, if that is like this one, its readers hold: it takes it back
  /// while nothing waits.
  void prefetch_next_line(Step next) {
    if (pages_.has(next)) m_.prefetch_own_at(pages_.lines(next).of(m_.rank()), sizeof(memory::FlagLine));
  }
  /// Of short ones, which have no use for the flag lines. A copy into a long one fetches its lines as fast, while this would
  /// hold up what the program does next.
  void prefetch_next_buffer(const CallUnderWay& call) {
    constexpr std::size_t most = 2 * 1024;
    const BufferLength length = call.length;
    if (length.bytes > most) return;
    if (const GivenBuffer* next = buffers_.next_like(m_, length))
      m_.prefetch_own_at(next->data + BufferParts::table, length.bytes - BufferParts::table);
  }

  bool take(CallUnderWay& call) {
    call.done = take_what_came(m_, call, area_) && may_write_again(call) && others_keep_up(call);
    if (!call.done) return false;
    if (call.offers_buffer) exchange_buffers(call);
    ++completed_;
    in_order_[static_cast<std::size_t>(call.number - in_order_.front().number)].call = nullptr;
    if (call.length.bytes > 0) prefetch_next_buffer(call);
    return true;
  }

  /// A rank that needs nothing of the others may go on before they start, but not for ever, or it would fill
  /// the memory: what it completes they must have started some calls ago. That is all that it waits for, since
  /// they may need it to come further before they complete anything.
  bool others_keep_up(CallUnderWay& call) {
    constexpr Step most_ahead = calls_in_page, most_ahead_in_buffers = 4;
    const bool is_long = call.length.bytes > 0;
    const bool has_heard_from_all = call.is_brief ? hears_all_in_brief(call.spec, m_.rank())
                                                  : call.spec.sources.size() == m_.other_ranks().size();
    if (has_heard_from_all) return true;
    if (!is_long && call.number % most_ahead != 0) return true;
    const Step ahead = is_long ? most_ahead_in_buffers : most_ahead;
    if (call.number <= ahead || !pages_.has(call.number - ahead)) return true;
    const Step then = call.number - ahead;
    const CallLines lines = pages_.lines(then);
    for (const int peer : m_.other_ranks())
      if (!m_.known_finished(peer, then) && !m_.reached_at(lines.of(peer), then)) {
        call.lack = {};
        return false;
      }
    return true;
  }

  /// Others hear of a call when this rank has finished all calls before it, too: one line says it then.
  void finish_in_order() {
    Step finished = 0;
    for (; !in_order_.empty() && !in_order_.front().call; in_order_.pop_front())
      finished = in_order_.front().number;
    if (finished == 0) return;
    finished_ = finished;
    m_.finish(finished);
  }

  struct Started {
    Step number;
    CallUnderWay* call;  ///< nullptr: it is done
  };

  M& m_;
  CallArea area_;
  int log2_chunk_;
  bool reads_own_memory_;
  std::size_t expose_from_;
  std::size_t later_from_;
  Pages pages_;
  GivenBuffers<Memory> buffers_;
  OwnBuffers own_buffers_;
  MemoryDemand demand_;
  std::deque<Started> in_order_;  // the first one is not done
  Step finished_ = 0;             // and all before it
  std::size_t unpublished_ = 0;
  std::uint64_t completed_ = 0;
  bool is_closed_ = false;  // there was no memory for lines
};

}  // namespace espalier::collective
