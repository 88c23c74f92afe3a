#include "runtime/across/mail.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "machine/host_platform.hpp"
#include "runtime/failure/call_text.hpp"
#include "runtime/failure/node_failure.hpp"
#include "runtime/process/process.hpp"
#include "runtime/process/tags.hpp"

namespace espalier::runtime::across {

// All calls of this rank are complete, so it has received all that is for it; ranks take a block of tags only where it
// is free on all of them. Of calls that were given up something may still come: the host writes it where it was told to.
Mail::~Mail() {
  static std::mutex& mutex = *new std::mutex;
  static std::list<Coming>& left_behind = *new std::list<Coming>;
  if (!coming_.empty()) {
    const std::lock_guard lock(mutex);
    left_behind.splice(left_behind.end(), coming_);
    return;
  }
  if (tags_ < 0 || !may_give_back_) return;
  if (Tags* const tags = Process::instance().tags()) tags->give_back(tags_);
}

std::uint64_t Mail::begin(int stream, const machine::CallFacts& facts) {
  const std::uint64_t next = streams_.begun(stream) + 1;
  if (const Failure* failure = streams_.failure(stream, next)) throw_out_of_step(failure->why);
  streams_.begin(stream, facts);
  for (const auto& [from, letter] : of_call(stream, next))
    if (!compare(head_of(letter))) break;
  if (const auto found = early_.find({stream, next}); found != early_.end()) {
    for (const Head& head : found->second)
      if (!compare(head)) break;
    early_.erase({stream, next});
  }
  return next;
}

machine::Fingerprint Mail::history_of(int stream, std::uint64_t call) const {
  return streams_.find(stream, call).value_or(Streams::Call{}).history;
}

void Mail::send(int rank, const std::shared_ptr<const Letter>& letter) {
  const auto ticket = transport_.send(place_.processes[static_cast<std::size_t>(rank)], place_.tag,
                                      letter->data(), letter->size());
  sent_.add(transport_, ticket, letter);
}

bool Mail::collect() {
  while (const auto arrival = transport_.probe(place_.tag)) {
    auto letter = std::make_unique<Letter>(arrival->bytes);
    const auto ticket = transport_.receive(arrival->process, place_.tag, letter->data(), letter->size());
    coming_.push_back({ticket, std::move(letter)});
  }
  bool any = false;
  for (auto each = coming_.begin(); each != coming_.end();) {
    if (!transport_.test(each->ticket)) {
      ++each;
      continue;
    }
    Letter letter = std::move(*each->letter);
    each = coming_.erase(each);
    take_in(std::move(letter));
    any = true;
  }
  return any;
}

void Mail::listen() {
  constexpr unsigned looks_between = 32;
  constexpr std::int64_t apart_ns = 20'000'000;
  if (++listened_ % looks_between != 0) return;
  const std::int64_t now = machine::HostPlatform::now_ns();
  if (now < listens_at_ns_) return;
  listens_at_ns_ = now + apart_ns;
  collect();
}

bool Mail::is_valid(const Letter& letter) const {
  if (letter.size() < sizeof(Head)) return false;
  const Head head = head_of(letter);
  if (head.node < 0 || head.node >= placement().nodes() || head.part < Head::question ||
      head.collective >= std::uint16_t{collective_count} || head.operation > reduce::user_operation)
    return false;
  const std::size_t ranks = placement().ranks_of[static_cast<std::size_t>(head.node)].size();
  if (head.has_data()) return head.part < static_cast<std::int32_t>(ranks);
  return head.piece < ranks && data_bytes(letter) >= sizeof(Word);
}

/// Of data of a whole node its lowest rank: any may have sent them.
int Mail::sender_of(const Head& head) const {
  const std::uint32_t number = !head.has_data()                ? head.piece
                               : head.part == Head::whole_node ? 0
                                                               : static_cast<std::uint32_t>(head.part);
  return placement().ranks_of[static_cast<std::size_t>(head.node)][number];
}

void Mail::take_in(Letter letter) {
  if (!is_valid(letter)) throw Error("a message of a nonblocking collective is damaged");
  const Head head = head_of(letter);
  if (head.part == Head::notice) return hear_notice(letter);
  if (head.part == Head::question) return hear_question(letter);
  const std::pair call{head.stream, head.call};
  if (!compare(head)) return;
  if (head.call <= streams_.begun(head.stream) && !arrived_.contains(call)) {
    ++strays_;
    return;
  }
  arrived_[call].insert_or_assign({head.node, head.part, static_cast<int>(head.piece)}, std::move(letter));
}

bool Mail::compare(const Head& head) {
  const auto mine = streams_.find(head.stream, head.call);
  if (!mine || (mine->facts == facts_in(head) && mine->history == head.history)) return true;
  const int sender = sender_of(head);
  const CallDifference difference{streams_.begun(head.stream) - head.call, {mine->facts}, {facts_in(head)}};
  const std::string what = mine->facts != facts_in(head)
                               ? print(difference, place_.rank, sender)
                               : formatted("rank {} and rank {} have made different calls before this {}",
                                           place_.rank, sender, print(mine->facts));
  fail(head.stream, head.call, formatted("{}; {}", what, same_calls));
  return false;
}

bool Mail::compare_recent(const Head& head, const SentCalls& theirs) {
  const SentCalls mine = streams_.recent(head.stream);
  if (!theirs.is_valid()) return true;
  const auto difference = mine.first_difference(theirs);
  if (!difference) return true;
  fail(head.stream, mine.number() - difference->ago,
       formatted("{}; {}", print(*difference, place_.rank, sender_of(head)), same_calls));
  return false;
}

void Mail::close(int stream) {
  streams_.close(stream);
  std::erase_if(early_, [&](const auto& each) { return each.first.first == stream; });
}

void Mail::fail(int stream, std::uint64_t from, const std::string& why, bool tells) {
  if (!streams_.fail(stream, {from, why, false})) return;
  lose_tags();
  if (tells) tell(stream, from, formatted("rank {}: {}", place_.rank, why));
}

void Mail::stop(const std::string& why, bool tells) {
  for (const int stream : {nonblocking_stream, meetings_stream})
    fail(stream, streams_.begun(stream) + 1, why, tells);
}

Head Mail::head_without_data(int stream, std::uint64_t call, const Streams::Call& what,
                             std::int32_t kind) const {
  const auto rank = static_cast<std::size_t>(place_.rank);
  const auto& [facts, history] = what;
  return {call,
          facts.bytes,
          stream,
          placement().node_of[rank],
          kind,
          facts.root,
          static_cast<std::uint16_t>(facts.collective),
          facts.operation,
          static_cast<std::uint32_t>(placement().local_rank_of[rank]),
          history};
}

void Mail::tell(int stream, std::uint64_t from, const std::string& why, int dead) {
  constexpr std::size_t longest = 512;
  const Word word{place_.use, streams_.position(), streams_.recent(stream), dead};
  const auto letter =
      make_letter(head_without_data(stream, from, {}, Head::notice), word, why.substr(0, longest));
  for (int rank = 0; rank < placement().ranks(); ++rank)
    if (rank != place_.rank && rank != dead) send_if_possible(rank, letter);
}

/// A rank that it does not reach learns it from another one, or by itself. To one that has ended nothing is sent: there
/// MPICH over TCP was seen to crash.
void Mail::send_if_possible(int rank, const std::shared_ptr<const Letter>& letter) {
  if (ended_.contains(rank) || place_.peers.has_ended(rank)) return;
  try {
    send(rank, letter);
  } catch (const Error&) {
  }
}

void Mail::hear_notice(const Letter& letter) {
  const Head head = head_of(letter);
  const Word word = word_of(letter);
  if (word.use != place_.use) return;
  lose_tags();
  if (word.dead >= 0) {
    ended_.try_emplace(static_cast<int>(word.dead), 1);
  } else if (compare_recent(head, word.calls)) {
    streams_.fail(head.stream, {head.call, reason_in(letter), true});
  }
}

void Mail::ask(int stream, std::uint64_t call, const Streams::Call& what, const std::vector<int>& ranks) {
  const Word word{place_.use, streams_.position(), streams_.recent(stream), -1};
  const auto letter = make_letter(head_without_data(stream, call, what, Head::question), word, {});
  for (const int rank : ranks) send_if_possible(rank, letter);
}

void Mail::hear_question(const Letter& letter) {
  const Head head = head_of(letter);
  const Word word = word_of(letter);
  if (word.use != place_.use || !compare(head) || !compare_recent(head, word.calls)) return;
  if (head.call > streams_.begun(head.stream)) {
    const std::string call = print(facts_in(head));
    const int asker = sender_of(head);
    if (streams_.is_closed(head.stream))
      return tell(
          head.stream, head.call,
          formatted("rank {} has freed the communicator or the request before the {} in which rank {} waits",
                    place_.rank, call, asker));
    early_[{head.stream, head.call}].push_back(head);
  }
  hear_position(head, word.position);
  look_at_node();
}

void Mail::hear_position(const Head& head, const Position& theirs) {
  const Position mine = streams_.position();
  if (!other_order_.empty() || are_in_one_order(mine, theirs)) return;
  const auto counts = [](const Position& of) {
    return formatted("{} blocking, {} nonblocking and {} _init calls", of.blocking, of.nonblocking,
                     of.prepared);
  };
  const int asker = sender_of(head);
  other_order_ = formatted(
      "rank {} waits in a request of {}, but the ranks begin collectives in different orders: "
      "rank {} has begun {}, rank {} {}; {}",
      asker, print(facts_in(head)), asker, counts(theirs), place_.rank, counts(mine), same_calls);
  const auto fail_beyond = [&](int stream, std::uint64_t a, std::uint64_t b) {
    fail(stream, std::min(a, b) + 1, other_order_);  // what one of the two does not begin
  };
  fail_beyond(nonblocking_stream, mine.nonblocking, theirs.nonblocking);
  fail_beyond(meetings_stream, mine.prepared, theirs.prepared);
}

void Mail::look_at_node() {
  place_.peers.for_each_ended([&](int rank) {
    if (ended_.try_emplace(rank, 1).second)
      tell(nonblocking_stream, 0, formatted("rank {} has ended", rank), rank);
  });
}

bool Mail::is_gone(int rank) {
  if (!ended_.contains(rank)) {
    if (!place_.peers.has_ended(rank)) return false;
    ended_[rank] = 0;
  }
  return ++ended_[rank] > 1;
}

}  // namespace espalier::runtime::across
