// Compares the call records of ranks, and makes a call fail on all of them.
#include "runtime/failure/mismatch_detection.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "machine/host_platform.hpp"

namespace espalier::runtime {

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
  if (const auto difference = first_difference(rank)) fail_by(*difference, rank);
  const bool ended = has_ended(rank), left = theirs.has_left();
  if (theirs.has_come_to(number)) {
    if (ended && !left && !theirs.has_come_to(number + 1)) fail_by_absence(rank, "ended in");
  } else if (left) {
    fail_by_absence(rank, "freed the communicator or the request, or finalized, before");
  } else if (ended) {
    fail_by_absence(rank, "ended before");
  }
}

// A flag line has the fingerprint of another call, whose number is equal modulo 4096. In a correct program,
// too, a rank that neither gives nor takes data may be thousands of calls ahead. So the records decide.
void MismatchDetection::report_mistake(int peer) {
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    if (rank == rank_ || (peer >= 0 && rank != peer)) continue;
    if (const auto difference = first_difference(rank)) fail_by(*difference, rank);
  }
  if (peer >= 0 && !records(peer).find(history_.number())) return;  // it has gone on: its flag is ahead
  const std::uint64_t long_ago = history_.number() - std::min(history_.number() - 1, CallRecords::kept);
  fail(long_ago,
       formatted("rank {} and {} have made different calls on this communicator more than {} calls ago",
                 name(rank_), peer < 0 ? "another" : formatted("rank {}", name(peer)), CallRecords::kept),
       same_calls);
}

std::optional<CallDifference> MismatchDetection::first_difference(int rank) const {
  const std::uint64_t last = history_.number();
  for (std::uint64_t number = last - std::min(last - 1, CallRecords::kept - 1); number <= last; ++number) {
    const auto mine = own_->find(number), theirs = records(rank).find(number);
    if (mine && theirs && *mine != *theirs) return CallDifference{last - number, *mine, *theirs};
  }
  return std::nullopt;
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
  fail(history_.number() - difference.ago, print(difference, name(rank_), name(rank), labels_), same_calls);
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
  keep_failure(why);
  failure_.tell(call, why);
  throw OutOfStep(advice.empty() ? why : formatted("{}; {}", why, advice), call);
}

void MismatchDetection::fail_again() const { throw_out_of_step(failed_); }

}  // namespace espalier::runtime
