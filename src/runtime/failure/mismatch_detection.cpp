// Compares the call records of ranks, and makes a call fail on all of them.
#include "runtime/failure/mismatch_detection.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "machine/host_platform.hpp"

namespace espalier::runtime {
namespace {

/// What moves for a rank in a call in which ranks count each for itself, one of two if the call has no root.
std::string print_moved(const machine::CallFacts& call) {
  const machine::PairLengths both = CallRecords::lengths_in(call.bytes);
  return traits(call.collective).has_root
             ? formatted("{} bytes", call.bytes)
             : formatted("{} bytes to send and {} to receive", both.out, both.in);
}

/// Whether the record had no room for one of them.
bool is_cut(const machine::PairLengths& lengths) {
  constexpr machine::PairLengths any = {~std::uint64_t{0}, ~std::uint64_t{0}};
  const machine::PairLengths most = CallRecords::lengths_in(CallRecords::both(any));
  return lengths.out >= most.out || lengths.in >= most.in;
}

/// Two ranks that exchange blocks go by the lengths of both, so each may wait where the other never comes.
bool go_different_ways(const machine::CallFacts& mine, const machine::CallFacts& theirs) {
  const machine::PairLengths a = CallRecords::lengths_in(mine.bytes),
                             b = CallRecords::lengths_in(theirs.bytes);
  return !traits(mine.collective).has_root && (a.out != b.in || a.in != b.out);
}

}  // namespace

MismatchDetection::MismatchDetection(std::byte* share, const machine::Layout& layout, int rank,
                                     std::vector<int> names, bool sees_processes, machine::ProgressHook inner)
    : share_(share),
      layout_(layout),
      rank_(rank),
      names_(std::move(names)),
      sees_processes_(sees_processes),
      inner_(inner),
      failure_(*reinterpret_cast<memory::FlagLine*>(share + layout.failure())),
      own_(reinterpret_cast<CallRecords*>(share + layout.calls(rank))) {}

const CallRecords& MismatchDetection::records(int rank) const {
  return *reinterpret_cast<const CallRecords*>(share_ + layout_.calls(rank));
}

machine::Fingerprint MismatchDetection::begin_unusual(Collective collective, int root, std::uint64_t bytes,
                                                      reduce::OperationCode operation) {
  if (!failed_.empty()) fail_again();
  const machine::CallFacts call{collective, root, bytes, operation};
  history_.add(call);
  history_.add_label(label_);
  own_->write(history_.number(), call);
  own_->write_label(history_.number(), label_);
  return history_.fingerprint();
}

machine::Fingerprint MismatchDetection::begin_unusual_counted(Collective collective, int root,
                                                              std::uint64_t counted) {
  const machine::Fingerprint fingerprint = begin_unusual(collective, root, 0, reduce::no_operation);
  note_block(counted);
  return fingerprint;
}

void MismatchDetection::keep_failure(std::string why) {
  failed_ = std::move(why);
  is_unusual_ = true;
}

void MismatchDetection::look_around() {
  if (inner_.function) inner_.function(inner_.context);
  if (history_.number() == 0) return;  // this rank has recorded no call here
  if (!failed_.empty()) fail_again();
  if (const std::string told = failure_.told(history_.number()); !told.empty()) {
    keep_failure(told);
    if (failure_.tells_truncation(history_.number(), rank_)) throw_truncated(history_.number(), told);
    fail_again();
  }
  const std::int64_t now = machine::HostPlatform::now_ns();
  if (std::exchange(waits_in_, history_.number()) != history_.number()) {
    wait_began_ns_ = now;
    next_look_ns_ = next_look(now);
  }
  if (now < next_look_ns_) return;
  next_look_ns_ = next_look(now);
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (rank != rank_) look_at(rank);
  look_for_counts();
  check_time(now);
}

std::int64_t MismatchDetection::next_look(std::int64_t now) const {
  const std::int64_t interval_ends = now + look_interval_ns, time_ends = wait_began_ns_ + limit_ns_;
  return limit_ns_ > 0 && time_ends > now ? std::min(interval_ends, time_ends) : interval_ends;
}

void MismatchDetection::check_time(std::int64_t now) {
  if (limit_ns_ > 0 && now >= wait_began_ns_ + limit_ns_) fail_by_time();
}

void MismatchDetection::fail_by_time() {
  std::string late;
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (rank != rank_ && !records(rank).has_come_to(history_.number()))
      late += formatted("{}{}", late.empty() ? "" : ", ", name(rank));
  const std::string call = print(own_->find(history_.number()).value());
  const std::string waited =
      formatted("rank {} has waited {} ms in its {}", name(rank_), limit_ns_ / 1'000'000, call);
  keep_failure(late.empty() ? waited + ", to which all ranks have come"
                            : waited + ", to which these have not come: " + late);
  failure_.tell(history_.number(), failed_);
  throw OutOfTime(failed_);
}

// A rank that has gone on to a later call, or has left, has done its part of this one. The order matters:
// first whether it has ended or left, then which call it came to, so that its last call is seen.
void MismatchDetection::look_at(int rank) {
  const std::uint64_t number = history_.number();
  const CallRecords& theirs = records(rank);
  report_difference(rank);
  look_at_order(rank);
  const bool ended = has_ended(rank), left = theirs.has_left();
  if (theirs.has_come_to(number)) {
    if (ended && !left && !theirs.has_come_to(number + 1)) fail_by_absence(rank, "ended in");
  } else if (left) {
    fail_by_absence(rank, "freed the communicator or the request, or finalized, before");
  } else if (ended) {
    fail_by_absence(rank, "ended before");
  }
}

// First its nonblocking collectives, then which call it came to: so what it had begun by then it began before that call.
// Which call it came to may be seen late, but not by half a second, so the second look counts.
void MismatchDetection::look_at_order(int rank) {
  const std::uint64_t number = history_.number();
  const CallRecords::NonblockingCalls theirs = records(rank).nonblocking();
  if (theirs.count <= own_->nonblocking().count || records(rank).has_come_to(number)) return;
  const bool is_second_look = out_of_order_in_ == number && out_of_order_ == rank;
  out_of_order_in_ = number;
  out_of_order_ = rank;
  if (!is_second_look) return;
  fail(number,
       formatted(
           "rank {} has begun a nonblocking {} before the {} in which rank {} waits, and rank {} has not",
           name(rank), to_string(theirs.last), print(own_->find(number).value()), name(rank_), name(rank_)),
       same_calls);
}

// What this rank waits for another would have written before it went on: it sends nothing, or too little. Their lines
// are seen before their records only if there was time between them, so the second look counts.
void MismatchDetection::look_for_counts() {
  const std::uint64_t number = history_.number();
  if (counts_in_ != number) return;
  const machine::CallFacts mine = own_->find(number).value();
  const auto other = layout_.ranks == 2 ? records(1 - rank_).find(number) : std::nullopt;
  const bool apart = other && go_different_ways(mine, *other);
  bool all_gone = true;
  for (int rank = 0; rank < layout_.ranks; ++rank)
    all_gone &= rank == rank_ || records(rank).has_come_to(number + 1) || records(rank).has_left();
  if ((!apart && !all_gone) || std::exchange(alone_in_, number) != number) return;
  fail(number,
       apart ? formatted("in this {} rank {} named {}, rank {} {}", print(mine), name(rank_),
                         print_moved(mine), name(1 - rank_), print_moved(*other))
             : formatted("rank {} waits in its {} for data that no rank sends: all others have gone on",
                         name(rank_), print(mine)),
       equal_counts);
}

// The peer's record says it, but of a peer that is many calls ahead the mark alone.
std::size_t MismatchDetection::length_of(int peer, std::size_t expected, machine::Fingerprint difference) {
  report_difference(peer);
  const auto call = own_->find(history_.number()), theirs = records(peer).find(history_.number());
  const bool noted = theirs && !has_length(call->collective);
  std::size_t sent = difference;
  if (!machine::of_one_call(difference, 0))  // the peer has gone on
    sent = 0;
  else if (noted && machine::length_mark(theirs->bytes) == difference)
    sent = theirs->bytes;
  if (sent > expected || (layout_.ranks == 2 && sent == 0)) fail_by_length(peer, sent, expected);
  return sent;
}

// A pair of lengths has no mark of which it could be told, so the record has to be there still.
machine::PairLengths MismatchDetection::lengths_of(int peer, const machine::PairLengths& expected,
                                                   machine::Fingerprint difference) {
  report_difference(peer);
  const auto theirs = records(peer).find(history_.number());
  if (theirs && machine::of_one_call(difference, 0)) {
    const machine::PairLengths lengths = CallRecords::lengths_in(theirs->bytes);
    if (lengths != expected && !is_cut(lengths)) return lengths;
  }
  fail_by_truncation(
      history_.number(),
      formatted("in this {} rank {} does not send the {} bytes that rank {} expects, or expects others than "
                "the {} that this one sends",
                print(own_->find(history_.number()).value()), name(peer), expected.out, name(rank_),
                expected.in),
      rank_);
}

void MismatchDetection::fail_by_length(int peer, std::size_t sent, std::size_t expected, bool own) {
  const int from = name(own ? rank_ : peer), to = name(own ? peer : rank_);
  const std::string why = print_lengths(own_->find(history_.number()).value(), from, sent, to, expected);
  if (sent > expected) fail_by_truncation(history_.number(), why, own ? peer : rank_);
  fail(history_.number(), why, equal_counts);
}

// A flag line has the fingerprint of another call, whose number is equal modulo 4096. In a correct program,
// too, a rank that neither gives nor takes data may be thousands of calls ahead. So the records decide.
void MismatchDetection::report_mistake(int peer) {
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (rank != rank_ && (peer < 0 || rank == peer)) report_difference(rank);
  if (peer >= 0 && !records(peer).find(history_.number())) return;  // it has gone on: its flag is ahead
  if (peer >= 0 && counts_in_ == history_.number())  // a first line, which this rank does not take for one
    fail(history_.number(),
         formatted("in this {} rank {} and rank {} go by different lengths",
                   print(own_->find(history_.number()).value()), name(rank_), name(peer)),
         equal_counts);
  const std::uint64_t long_ago = history_.number() - std::min(history_.number() - 1, CallRecords::kept);
  fail(long_ago,
       formatted("rank {} and {} have made different calls on this communicator more than {} calls ago",
                 name(rank_), peer < 0 ? "another" : formatted("rank {}", name(peer)), CallRecords::kept),
       same_calls);
}

void MismatchDetection::report_difference(int rank) {
  if (const auto difference = first_difference(rank)) fail_by(*difference, rank);
}

std::optional<CallDifference> MismatchDetection::first_difference(int rank) const {
  const std::uint64_t last = history_.number();
  for (std::uint64_t number = last - std::min(last - 1, CallRecords::kept - 1); number <= last; ++number) {
    const auto mine = own_->find(number), theirs = records(rank).find(number);
    if (!mine || !theirs) continue;
    CallDifference found{last - number, *mine, *theirs};
    if (mine->collective == theirs->collective && !has_length(mine->collective) &&
        !one_has_nothing(found, rank))
      found.theirs.bytes = mine->bytes;
    if (found.mine != found.theirs) return found;
  }
  return std::nullopt;
}

// Where rules do not know a call's length ranks may have blocks of different ones. But of two ranks, if nothing moves for
// one of them alone, that one has not taken the steps of the other. What the other says is complete when it has gone
// on.
bool MismatchDetection::one_has_nothing(const CallDifference& found, int rank) const {
  return layout_.ranks == 2 && records(rank).has_come_to(history_.number() - found.ago + 1) &&
         (found.mine.bytes == 0) != (found.theirs.bytes == 0);
}

// After a restart from a checkpoint the marks are those of former processes. Then this rank's own mark is not
// found either, and no rank counts as ended.
bool MismatchDetection::has_ended(int rank) const {
  return sees_processes_ && liveness_of(mark_of(rank)) == Liveness::ended &&
         liveness_of(mark_of(rank_)) == Liveness::runs;
}

ProcessMark MismatchDetection::mark_of(int rank) const {
  ProcessMark mark;
  std::memcpy(&mark, share_ + layout_.process(rank), sizeof mark);
  return mark;
}

void MismatchDetection::fail_by(const CallDifference& difference, int rank) {
  if (is_of_counts(difference)) fail_by_counts(difference, rank);
  fail(history_.number() - difference.ago, print(difference, name(rank_), name(rank), labels_), same_calls);
}

// One of two ranks has named nothing. If data have come to it that is an error of its own class.
void MismatchDetection::fail_by_counts(const CallDifference& difference, int rank) {
  const auto& [ago, mine, theirs] = difference;
  const std::string why = formatted("{}, a {}, rank {} named {}, rank {} {}", print_when(ago), print(mine),
                                    name(rank_), print_moved(mine), name(rank), print_moved(theirs));
  const int nothing = mine.bytes == 0 ? rank_ : rank;
  const bool receives = (nothing == mine.root) == (mine.collective == Collective::gatherv);
  if (traits(mine.collective).has_root && receives) fail_by_truncation(history_.number() - ago, why, nothing);
  fail(history_.number() - ago, why, equal_counts);
}

void MismatchDetection::fail_by_absence(int rank, std::string_view what) {
  const std::string call = print(own_->find(history_.number()).value());
  fail(history_.number(),
       formatted("rank {} has {} the {} in which rank {} waits", name(rank), what, call, name(rank_)), "");
}

void MismatchDetection::abandon() {
  if (!failed_.empty()) return;
  std::string why = "the program's operator threw it";
  try {
    throw;
  } catch (const Error& error) {
    why = error.what();
  } catch (...) {  // not Espalier's
  }
  const auto call = own_->find(history_.number());
  keep_failure(
      formatted("rank {} left its {} by an exception: {}", name(rank_), call ? print(*call) : "call", why));
  failure_.tell(history_.number(), failed_);
}

// The other ranks get the reason without the advice: the failure line has no room for both.
void MismatchDetection::fail(std::uint64_t call, const std::string& why, std::string_view advice) {
  tell(call, why);
  throw OutOfStep(advice.empty() ? why : formatted("{}; {}", why, advice), call);
}

void MismatchDetection::fail_by_truncation(std::uint64_t call, const std::string& why, int receiver) {
  tell(call, why, receiver);
  throw_truncated(call, why);
}

void MismatchDetection::tell(std::uint64_t call, const std::string& why, int receiver) {
  keep_failure(why);
  failed_from_ = call;
  failure_.tell(call, why, receiver);
}

void MismatchDetection::throw_truncated(std::uint64_t call, const std::string& why) {
  throw Truncated(formatted("{}; {}", why, equal_counts), call);
}

void MismatchDetection::fail_again() const { throw_out_of_step(failed_); }

}  // namespace espalier::runtime
