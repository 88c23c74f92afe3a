#include "simulation/checker/messages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "simulation/checker/execution.hpp"

namespace espalier::simulation::checker {

struct Messages::End final : network::Transport {
  End(Messages& all, int number) : messages(all), rank(number) {}
  network::Ticket send(int to, int tag, const void* data, std::size_t bytes) override {
    return messages.send({rank, to, tag}, static_cast<const std::byte*>(data), bytes);
  }
  network::Ticket receive(int from, int tag, void* data, std::size_t bytes) override {
    return messages.receive({from, rank, tag}, static_cast<std::byte*>(data), bytes);
  }
  bool test(network::Ticket ticket) override { return messages.test(ticket); }
  std::optional<network::Arrival> probe(int tag) override { return messages.probe(rank, tag); }
  void make_progress() override { messages.execution_.yield(); }
  int tags() const override { return 1 << 10; }
  Messages& messages;
  int rank;
};

Messages::Messages(Execution& execution, int ranks) : execution_(execution) {
  for (int rank = 0; rank < ranks; ++rank) ends_.push_back(std::make_unique<End>(*this, rank));
}

Messages::~Messages() = default;

network::Transport& Messages::of(int rank) { return *ends_[static_cast<std::size_t>(rank)]; }

void Messages::reset() {
  lanes_.clear();
  requests_.clear();
  probed_.clear();
  names_.clear();
  last_ticket_ = 0;
  forgets_next_ = {};
}

bool Messages::concern(int rank) const {
  const auto is_under_way = [&](const auto& each) {
    return each.second.rank() == rank && !each.second.forgotten;
  };
  const auto is_sent_to = [&](const auto& each) {
    return each.first.to == rank && !each.second.sent.empty();
  };
  return std::any_of(requests_.begin(), requests_.end(), is_under_way) ||
         std::any_of(lanes_.begin(), lanes_.end(), is_sent_to);
}

// What a mutant forgets to await is no finding by itself, or all would be found. But nothing else comes of it
// where there are no data.
std::string Messages::left_over() const {
  for (const auto& [ticket, request] : requests_)
    if (!request.forgotten || request.bytes == 0) return name(request) + " was never seen done";
  for (const auto& [key, lane] : lanes_)
    if (!lane.sent.empty())
      return formatted("a message from rank {} to {} with tag {} was never received", key.from, key.to,
                       key.tag);
  return "";
}

std::optional<std::string> Messages::met_by(int rank, const void* begin, std::size_t bytes,
                                            bool writes) const {
  const auto first = execution_.position_of(rank, begin);
  for (const auto& [ticket, request] : requests_) {
    if (request.bytes == 0 || request.cut || (request.is_send && !writes)) continue;
    const auto other =
        execution_.position_of(request.rank(), request.is_send ? request.message->source : request.target);
    if (first < other + request.bytes && other < first + bytes) return name(request);
  }
  return {};
}

network::Ticket Messages::send(const Key& key, const std::byte* data, std::size_t bytes) {
  execution_.yield();
  execution_.reads(data, bytes);
  auto message = std::make_shared<Message>(Message{key, data, bytes, execution_.tell_by_message(), {}, {}});
  if (bytes > 0) message->sent.assign(data, data + bytes);
  Request request{key, true, nullptr, bytes, message};
  request.waits_for_receiver = execution_.ask(Question::leave) == 1;
  Lane& lane = lanes_[key];
  if (lane.wanted.empty()) {
    lane.sent.push_back(message);
    if (probed_.contains({key.to, key.tag})) execution_.bring_news(key.to);
  } else {
    match(requests_.at(lane.wanted.front()), message);
    lane.wanted.pop_front();
  }
  execution_.log([&] { return name(request) + " begins"; });
  return add(std::move(request));
}

network::Ticket Messages::receive(const Key& key, std::byte* data, std::size_t bytes) {
  execution_.yield();
  Request request{key, false, data, bytes, nullptr};
  scribble(request);
  Lane& lane = lanes_[key];
  const bool is_there = !lane.sent.empty();
  if (is_there) {
    match(request, lane.sent.front());
    lane.sent.pop_front();
  }
  execution_.log([&] { return name(request) + " begins"; });
  const network::Ticket ticket = add(std::move(request));
  if (!is_there) lane.wanted.push_back(ticket);
  return ticket;
}

void Messages::match(Request& receive, std::shared_ptr<Message> message) {
  receive.message = std::move(message);
  execution_.bring_news(receive.key.to);
}

network::Ticket Messages::add(Request request) {
  request.forgotten = std::exchange(forgets_next_[static_cast<std::size_t>(request.rank())], false);
  requests_.emplace(++last_ticket_, std::move(request));
  return last_ticket_;
}

// It may be written to from now on.
void Messages::scribble(const Request& request) {
  if (request.bytes == 0) return;
  execution_.may_write(request.target, request.bytes);
  std::memset(request.target, static_cast<int>(Memory::junk), request.bytes);
  execution_.writes(request.target, request.bytes);
}

bool Messages::test(network::Ticket ticket) {
  execution_.yield();
  const auto found = requests_.find(ticket);
  if (found == requests_.end())
    execution_.fail(Wrong::error, "a test of a message that was seen done or never begun");
  if (cuts_short(found->second)) return true;
  finish_forgotten(found->second.rank());
  if (!is_possible(found->second) || is_late(found->second.rank())) return false;
  const Request done = std::move(found->second);
  requests_.erase(found);
  finish(done);
  return true;
}

bool Messages::is_possible(const Request& request) const {
  if (request.is_send) return request.message->received || !request.waits_for_receiver;
  return request.message != nullptr;
}

// Who heard "not yet" is to look again.
bool Messages::is_late(int rank) {
  if (execution_.hurries() || execution_.ask(Question::arrive) == 0) return false;
  execution_.bring_news(rank);
  return true;
}

void Messages::finish(const Request& request) {
  request.is_send ? finish_send(request) : finish_receive(request);
  execution_.log([&] { return name(request) + " is done"; });
  execution_.bring_news(request.is_send ? request.key.to : request.key.from);
}

void Messages::finish_send(const Request& request) {
  Message& message = *request.message;
  execution_.reads(message.source, message.bytes);
  if (message.bytes > 0) {
    if (std::memcmp(message.source, message.sent.data(), message.bytes) != 0)
      execution_.fail(Wrong::message, name(request) + ": its data were changed while it was under way");
    message.left.assign(message.source, message.source + message.bytes);
  }
  message.has_left = true;
}

void Messages::finish_receive(const Request& request) {
  Message& message = *request.message;
  message.received = true;
  if (message.bytes != request.bytes)
    execution_.fail(Wrong::message, formatted("{}: a message of {} bytes, where {} are expected",
                                              name(request), message.bytes, request.bytes));
  execution_.hear_by_message(message.knowledge);
  if (request.bytes == 0) return;
  const auto is_junk = [](std::byte each) { return each == Memory::junk; };
  if (!request.forgotten && !std::all_of(request.target, request.target + request.bytes, is_junk))
    execution_.fail(Wrong::message, name(request) + ": its memory was written to while it was under way");
  execution_.may_write(request.target, request.bytes);
  if (message.has_left)
    std::memcpy(request.target, message.left.data(), request.bytes);
  else if (execution_.keeps(message.source))
    std::memcpy(request.target, message.source, request.bytes);
  else if (!message.cut)
    std::memcpy(request.target, message.sent.data(), request.bytes);
  execution_.writes(request.target, request.bytes);
}

// What a mutant does not await is done some time, if at all: memory that may be gone is left alone.
void Messages::finish_forgotten(int rank) {
  for (auto it = requests_.begin(); it != requests_.end();) {
    const Request& request = it->second;
    if (!request.forgotten || request.is_send || request.rank() != rank || request.bytes == 0 ||
        !is_possible(request) || execution_.ask(Question::arrive) == 1) {
      ++it;
      continue;
    }
    const Request done = std::move(it->second);
    it = requests_.erase(it);
    if (execution_.keeps(done.target)) finish(done);
  }
}

// A mutant that takes a message for done at the first look.
bool Messages::cuts_short(Request& request) {
  const auto name = names_.find(request.key.tag);
  if (name == names_.end()) return false;
  const Site site{name->second.file,
                  name->second.name,
                  0,
                  0,
                  request.is_send ? Operation::send : Operation::receive,
                  "",
                  std::memory_order_relaxed};
  if (execution_.at(site) != Change::removed) return false;
  request.forgotten = request.cut = true;
  if (request.is_send) request.message->cut = true;
  return true;
}

std::optional<network::Arrival> Messages::probe(int rank, int tag) {
  execution_.yield();
  probed_.insert({rank, tag});
  std::array<int, most_ranks> senders;
  std::size_t count = 0;
  for (const auto& [key, lane] : lanes_)
    if (key.to == rank && key.tag == tag && !lane.sent.empty()) senders[count++] = key.from;
  if (count == 0 || is_late(rank)) return {};
  const int from = senders[count == 1 ? 0 : execution_.ask(Question::from, std::span(senders).first(count))];
  return network::Arrival{from, lanes_[{from, rank, tag}].sent.front()->bytes};
}

std::string Messages::name(const Request& request) {
  return formatted("{} of {} bytes from rank {} to {} with tag {}", request.is_send ? "a send" : "a receive",
                   request.bytes, request.key.from, request.key.to, request.key.tag);
}

}  // namespace espalier::simulation::checker
