#include "network/endpoint.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::network {

void Endpoint::check(std::size_t bytes) const {
  if (abandoned_)
    throw Error(
        "an earlier collective of this communicator failed between nodes, so its messages are out of step; "
        "make a new communicator, or set ESPALIER=off");
  if (bytes > Transport::longest)
    throw Error(formatted(
        "a message of {} bytes between nodes is longer than the {} that the transport carries; give the rule "
        "a smaller \"segment\" (ESPALIER_SEGMENT)",
        bytes, Transport::longest));
}

bool Endpoint::drive() {
  bool any = false, host_driven = false;
  // By number: a task that goes on may await its next message, which comes to the end of the list.
  for (std::size_t i = 0; i < waiting_.size();) {
    const Waiting each = waiting_[i];
    bool done = true;
    try {
      done = each.event ? each.event->test() : test(each.ticket);
      host_driven = host_driven || !each.event;
    } catch (...) {
      failure_ = std::current_exception();  // thrown in the task that awaits the message
    }
    if (!done) {
      ++i;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    each.task.resume();
    any = true;
  }
  if (!host_driven)
    transport_.make_progress();
  else if (!any)
    transport_.drive_others();
  return any;
}

/// What fails is under way no more either.
bool Endpoint::test(Ticket ticket) {
  const auto end_receive = [&] { std::erase(receives_, ticket); };
  try {
    if (!transport_.test(ticket)) return false;
  } catch (...) {
    end_receive();
    throw;
  }
  end_receive();
  return true;
}

void Endpoint::abandon() {
  waiting_.clear();
  abandoned_ = true;
  for (const Ticket receive : receives_) transport_.cancel(receive);
  receives_.clear();
}

std::vector<int> Endpoint::awaited() const {
  std::vector<int> ranks;
  for (const Waiting& each : waiting_)
    if (!each.event) ranks.push_back(each.peer);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void Endpoint::forget_events() {
  std::erase_if(waiting_, [](const Waiting& each) { return each.event != nullptr; });
}

}  // namespace espalier::network
