// Who is gone, and who has called something else: ranks that share memory keep records of their calls,
// compare them where flags differ, and look around when a wait takes long (DESIGN, invariant 6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/fingerprint.hpp"
#include "machine/layout.hpp"
#include "machine/wait.hpp"
#include "runtime/failure/call_records.hpp"
#include "runtime/failure/call_text.hpp"
#include "runtime/failure/liveness.hpp"
#include "runtime/failure/node_failure.hpp"

namespace espalier::runtime {

/// One per communicator, or persistent collective, and rank; used by one thread at a time. Once it has thrown
/// the ranks are out of step: the others throw in their next wait of that call or a later one, and so does
/// every later call.
class MismatchDetection {
 public:
  /// After a wait of so long a rank looks where the others are, and again each time as much later.
  static constexpr std::int64_t look_interval_ns = 500'000'000;

  /// `share`: what `layout` is of. `names`: what the ranks that share it are called, if not by their numbers.
  /// `sees_processes`: whether it shows here that one has ended. `inner`: what waits do besides.
  MismatchDetection(std::byte* share, const machine::Layout& layout, int rank, std::vector<int> names,
                    bool sees_processes, machine::ProgressHook inner);
  MismatchDetection(const MismatchDetection&) = delete;
  MismatchDetection& operator=(const MismatchDetection&) = delete;

  /// What this rank's lines are to say in its next call. Throws OutOfStep if the ranks are so. Inlined into
  /// every call, or the facts would go through memory.
  [[gnu::always_inline]] machine::Fingerprint begin(const machine::CallFacts& call) {
    if (is_unusual_) [[unlikely]]
      return begin_unusual(call.collective, call.root, call.bytes, call.operation);
    machine::CallHistory next = history_;  // in registers: the record might lie where history_ does
    next.add(call);
    history_ = next;
    own_->write(next.number(), call);
    return next.fingerprint();
  }

  /// The same of a call in which ranks count each for itself: as note_block(), at once.
  [[gnu::always_inline]] machine::Fingerprint begin_counted(const machine::CallFacts& call,
                                                            std::uint64_t counted) {
    if (is_unusual_) [[unlikely]]
      return begin_unusual_counted(call.collective, call.root, counted);
    machine::CallHistory next = history_;
    next.add(call);
    history_ = next;
    own_->write(next.number(), {call.collective, call.root, counted, call.operation});
    counts_in_ = next.number();
    return next.fingerprint();
  }

  /// Of the call that this rank has begun: the block that it alone, and the rank that gets it, know the length of.
  /// From now on a wait in this call looks whether all others have gone on.
  void note_block(std::uint64_t bytes) {
    own_->note_block(history_.number(), bytes);
    counts_in_ = history_.number();
  }
  /// Of two ranks: nothing moves in this call, so it takes no step. What this rank's lines are to say: a rank for
  /// which something moves says otherwise.
  machine::Fingerprint note_nothing_moves() {
    note_block(0);
    history_.add_nothing();
    return history_.fingerprint();
  }

  /// This rank begins a nonblocking collective between its calls here. Ranks begin both kinds in one order.
  void add_nonblocking(Collective collective) { own_->add_nonblocking(collective); }

  /// The peer, which may be this rank, sends `sent` bytes where this rank expects others; or, if `own`, this rank to the
  /// peer.
  [[noreturn]] void fail_by_length(int peer, std::size_t sent, std::size_t expected, bool own = false);

  /// How many calls this rank has begun here.
  std::uint64_t calls() const { return history_.number(); }

  /// This rank leaves its call before it has done its part, because of the exception that is being handled:
  /// the others, which may wait for it, and its own later calls fail with the reason, unless one is known
  /// already.
  [[gnu::cold]] void abandon();

  /// From its next call on this rank waits so long at most in a call; 0: without end. Throws OutOfTime then,
  /// after which the ranks are out of step.
  void limit_waits(std::int64_t ns) { limit_ns_ = ns; }

  /// What its next calls have to have in common with the others' beside what they say themselves; 0, as it is at first:
  /// nothing. At most machine::most_label.
  void set_label(std::uint16_t label) {
    label_ = label;
    is_unusual_ |= label != 0;  // and stays so: call records of 16 calls ago may have one
  }
  /// How errors speak of labels, from 1 on.
  void name_labels(std::vector<std::string> names) { labels_ = std::move(names); }

  /// Whether the ranks are out of step: no call can do anything any more.
  bool has_failed() const { return !failed_.empty(); }
  /// Why; empty: they are not, as far as this rank has found. And from which call on, if it was the one that found it, else 0.
  const std::string& failure() const { return failed_; }
  std::uint64_t failed_from() const { return failed_from_; }

  /// This rank makes no more calls. While it still has its part of the share.
  void leave() { own_->leave(); }

  /// For the waits of this rank's machine; throws OutOfStep where a rank is gone or in another call.
  machine::ProgressHook hook() {
    return {[](void* self) { static_cast<MismatchDetection*>(self)->look_around(); }, this, inner_.progress};
  }
  /// For flag lines that are of another call.
  machine::Mistake mistake() {
    return {[](void* self, int peer) { static_cast<MismatchDetection*>(self)->report_mistake(peer); }, this,
            [](void* self, int peer, std::size_t expected, machine::Fingerprint difference) {
              return static_cast<MismatchDetection*>(self)->length_of(peer, expected, difference);
            },
            [](void* self, int peer, const machine::PairLengths& expected, machine::Fingerprint difference) {
              return static_cast<MismatchDetection*>(self)->lengths_of(peer, expected, difference);
            },
            [](void* self, int peer, std::size_t sent, std::size_t expected, bool own) {
              static_cast<MismatchDetection*>(self)->fail_by_length(peer, sent, expected, own);
            }};
  }

 private:
  /// With a label. Takes values: facts whose address it took would go through memory in every call.
  [[gnu::noinline]] machine::Fingerprint begin_unusual(Collective collective, int root, std::uint64_t bytes,
                                                       reduce::OperationCode operation);
  [[gnu::noinline]] machine::Fingerprint begin_unusual_counted(Collective collective, int root,
                                                               std::uint64_t counted);
  void look_around();
  void look_at(int rank);
  /// Throws if the rank has begun a nonblocking collective before the call in which this one waits, and this one has not.
  void look_at_order(int rank);
  /// When to look again: at the interval's end, or when the time is over.
  std::int64_t next_look(std::int64_t now) const;
  void check_time(std::int64_t now);
  void report_mistake(int peer);
  machine::PairLengths lengths_of(int peer, const machine::PairLengths& expected,
                                  machine::Fingerprint difference);
  std::size_t length_of(int peer, std::size_t expected, machine::Fingerprint difference);
  /// Throws if all others have gone on from a call in which ranks count each for itself.
  void look_for_counts();
  /// The first of those calls that are kept of both. Holds what was read, for the other rank may go on.
  std::optional<CallDifference> first_difference(int rank) const;
  void report_difference(int rank);
  bool one_has_nothing(const CallDifference& found, int rank) const;
  /// Whether they differ in what moves in one and the same call.
  static bool is_of_counts(const CallDifference& difference) {
    RecordedCall theirs = difference.theirs;  // with its label
    theirs.bytes = difference.mine.bytes;
    return difference.mine == theirs && !has_length(theirs.collective);
  }
  bool has_ended(int rank) const;
  ProcessMark mark_of(int rank) const;
  [[noreturn]] void fail_by(const CallDifference& difference, int rank);
  [[noreturn]] void fail_by_counts(const CallDifference& difference, int rank);
  [[noreturn]] void fail_by_time();
  [[noreturn]] void fail_by_absence(int rank, std::string_view what);
  /// `call`: the first that cannot be done.
  [[noreturn]] void fail(std::uint64_t call, const std::string& why, std::string_view advice);
  [[noreturn]] void fail_by_truncation(std::uint64_t call, const std::string& why, int receiver);
  [[noreturn]] static void throw_truncated(std::uint64_t call, const std::string& why);
  void tell(std::uint64_t call, const std::string& why, int receiver = NodeFailure::no_rank);
  [[noreturn]] void fail_again() const;
  void keep_failure(std::string why);

  const CallRecords& records(int rank) const;
  int name(int rank) const { return names_.empty() ? rank : names_[static_cast<std::size_t>(rank)]; }

  std::byte* share_;
  const machine::Layout layout_;
  int rank_;
  std::vector<int> names_;
  bool sees_processes_;
  machine::ProgressHook inner_;
  NodeFailure failure_;
  CallRecords* own_;
  machine::CallHistory history_;
  bool is_unusual_ = false;  // it has failed, or calls are labelled: one look for both
  std::uint16_t label_ = 0;
  std::vector<std::string> labels_;
  std::string failed_;  // why no call can do anything any more; empty: they can
  std::uint64_t failed_from_ = 0;
  std::uint64_t counts_in_ = 0;        // the last call in which ranks count each for itself
  std::uint64_t alone_in_ = 0;         // the call in which this rank was last found to be alone
  std::uint64_t out_of_order_in_ = 0;  // the call in which another order was last found
  int out_of_order_ = 0;               // with that rank
  std::uint64_t waits_in_ = 0;         // the call in which this rank was last found waiting
  std::int64_t wait_began_ns_ = 0;
  std::int64_t next_look_ns_ = 0;
  std::int64_t limit_ns_ = 0;
};

}  // namespace espalier::runtime
