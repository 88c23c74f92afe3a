#include "runtime/failure/failure_notices.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "machine/host_platform.hpp"

namespace espalier::runtime {
namespace {

constexpr std::size_t longest = 512;

/// A notice as it is sent: the number of the call, then the reason.
std::string message_of(std::uint64_t call, std::string_view why) {
  std::string message(sizeof call, '\0');
  std::memcpy(message.data(), &call, sizeof call);
  return message.append(why.substr(0, longest));
}

// Never destroyed: the host may be sending it until the process ends.
const std::string& kept_for_ever(std::string message) {
  static std::mutex mutex;
  static auto* all = new std::list<std::string>;
  const std::lock_guard lock(mutex);
  return all->emplace_back(std::move(message));
}

}  // namespace

FailureNotices::FailureNotices(network::Transport& transport, std::vector<int> processes, int rank, int tag)
    : transport_(transport), processes_(std::move(processes)), rank_(rank), tag_(tag) {}

void FailureNotices::send(std::uint64_t call, std::string_view why) noexcept {
  try {
    const std::string& message = kept_for_ever(message_of(call, why));
    for (std::size_t peer = 0; peer < processes_.size(); ++peer) {
      if (static_cast<int>(peer) == rank_) continue;
      try {
        // So short a message is on its way when it has been tested once; it is not waited for.
        transport_.test(transport_.send(processes_[peer], tag_, message.data(), message.size()));
      } catch (const Error&) {
        // That rank will have to learn it from its own messages.
      }
    }
  } catch (const std::exception&) {
    // No memory: this rank's own failure is what matters.
  }
}

void FailureNotices::look_by_time(std::uint64_t call, NodeFailure& node) {
  const std::int64_t now = machine::HostPlatform::now_ns();
  if (now < next_probe_ns_) return;
  next_probe_ns_ = now + probes_apart_ns;
  probe(node);
  if (heard_ && heard_->call <= call) throw_out_of_step(heard_->why);
}

void FailureNotices::probe(NodeFailure& node) {
  const auto arrival = transport_.probe(tag_);
  if (!arrival) return;
  std::string message(arrival->bytes, '\0');
  const auto ticket = transport_.receive(arrival->process, tag_, message.data(), message.size());
  while (!transport_.test(ticket)) transport_.make_progress();
  // A notice may have been meant for an earlier communicator with this tag, which this rank had left by then.
  if (std::find(processes_.begin(), processes_.end(), arrival->process) == processes_.end()) return;
  std::uint64_t call = 0;
  std::memcpy(&call, message.data(), sizeof call);
  const std::string why = message.substr(sizeof call);
  node.tell(call, why);
  if (!heard_ || call < heard_->call) heard_ = {call, why};
}

}  // namespace espalier::runtime
