#include "runtime/failure/failure_notices.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "base/format.hpp"
#include "machine/host_platform.hpp"
#include "runtime/failure/call_text.hpp"

namespace espalier::runtime {
namespace {

constexpr std::size_t longest = 512;

// Never destroyed: the host may be sending it until the process ends.
const std::string& kept_for_ever(std::string message) {
  static std::mutex mutex;
  static auto* all = new std::list<std::string>;
  const std::lock_guard lock(mutex);
  return all->emplace_back(std::move(message));
}

}  // namespace

FailureNotices::FailureNotices(network::Transport& transport, Place place, const OwnCalls& mine,
                               std::function<std::vector<int>()> awaited,
                               std::function<NodePeers()> node_peers)
    : transport_(transport),
      place_(std::move(place)),
      mine_(mine),
      awaited_(std::move(awaited)),
      node_peers_(std::move(node_peers)) {}

std::uint64_t FailureNotices::use() const {
  return static_cast<std::uint64_t>(place_.processes.front()) << 32 | place_.use;
}

std::string FailureNotices::message(Kind kind, std::uint64_t call, std::string_view content) const {
  const Head head{use(), kind, call};
  std::string message(sizeof head, '\0');
  std::memcpy(message.data(), &head, sizeof head);
  return message.append(content);
}

void FailureNotices::send(std::uint64_t call, std::string_view why) noexcept {
  try {
    const std::string& notice = kept_for_ever(message(Kind::notice, call, why.substr(0, longest)));
    const NodePeers peers = node_peers_();
    for (int rank = 0; rank < static_cast<int>(place_.processes.size()); ++rank)
      if (rank != place_.rank) send_to(rank, peers, notice);
  } catch (const std::exception&) {
    // No memory: this rank's own failure is what matters.
  }
}

// So short a message is on its way when it has been tested once; it is not waited for.
void FailureNotices::send_to(int rank, const NodePeers& peers, const std::string& message) noexcept {
  try {
    if (peers.has_ended(rank)) return;
    const int process = place_.processes[static_cast<std::size_t>(rank)];
    transport_.test(transport_.send(process, place_.tag, message.data(), message.size()));
  } catch (const std::exception&) {
    // That rank will have to learn it from its own messages.
  }
}

bool FailureNotices::look_by_time(std::uint64_t call, NodeFailure& node) {
  const std::int64_t now = machine::HostPlatform::now_ns();
  if (now < next_probe_ns_) return false;
  next_probe_ns_ = now + probes_apart_ns;
  probe(node);
  if (heard_ && heard_->call <= call) throw_out_of_step(heard_->why);
  if (std::exchange(waits_in_, call) != call) {
    questions_apart_ns_ = first_interval_ns;
    next_question_ns_ = now + questions_apart_ns_ + after_interval_ns;
  } else if (now >= next_question_ns_) {
    questions_apart_ns_ *= 2;
    next_question_ns_ = now + questions_apart_ns_;
    ask();
  }
  return questions_apart_ns_ > first_interval_ns;
}

void FailureNotices::probe(NodeFailure& node) {
  const auto arrival = transport_.probe(place_.tag);
  if (!arrival) return;
  std::string message(arrival->bytes, '\0');
  const auto ticket = transport_.receive(arrival->process, place_.tag, message.data(), message.size());
  while (!transport_.test(ticket)) transport_.make_progress();
  // It may have been meant for an earlier communicator with this tag, which this rank had left by then.
  const auto& processes = place_.processes;
  const auto sender = std::find(processes.begin(), processes.end(), arrival->process);
  Head head{};
  if (sender == processes.end() || message.size() < sizeof head) return;
  std::memcpy(&head, message.data(), sizeof head);
  if (head.use != use()) return;
  const std::string content = message.substr(sizeof head);
  if (head.kind == Kind::notice)
    hear(head, content, node);
  else
    compare(content, static_cast<int>(sender - processes.begin()));
}

void FailureNotices::hear(const Head& head, const std::string& why, NodeFailure& node) {
  node.tell(head.call, why);
  if (!heard_ || head.call < heard_->call) heard_ = {head.call, why};
}

// A rank whose wait has lasted long sends what it called to those whose messages it awaits. Where one of them
// waits, too, but in another call, neither will ever get the other's message.
void FailureNotices::ask() {
  const std::vector<int> ranks = awaited_();
  if (ranks.empty()) return;  // it waits for ranks of its node
  const SentCalls last(mine_);
  const std::string_view calls(reinterpret_cast<const char*>(&last), sizeof last);
  const std::string& question = kept_for_ever(message(Kind::question, mine_.number(), calls));
  const NodePeers peers = node_peers_();
  for (const int rank : ranks) send_to(rank, peers, question);
}

void FailureNotices::compare(const std::string& calls, int rank) const {
  SentCalls theirs;
  if (calls.size() != sizeof theirs) return;
  std::memcpy(&theirs, calls.data(), sizeof theirs);
  if (!theirs.is_valid()) return;
  const auto difference = mine_.first_difference(theirs);
  if (!difference) return;
  throw OutOfStep(formatted("{}; {}", print(*difference, place_.rank, rank), same_calls),
                  mine_.number() - difference->ago);
}

}  // namespace espalier::runtime
