// A hostile network for ranks that are threads: it delays, reorders and withholds whatever the promises of
// Transport allow, and notes the rank that breaks their side of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "network/transport.hpp"

namespace espalier::testing {

/// Processes numbered from 0, each with a transport of its own. What it does to a message follows from the
/// seed, its sender, receiver, tag and number, whatever the threads do meanwhile:
///  - test() says false for a while, for some messages for long; messages of different pairs overtake each
///    other;
///  - a send is done at once, or only when its receiver has it;
///  - probe() sees a message late;
///  - a receive's memory is filled with rubbish until it is done, a send's is read when it is sent.
/// Thread-safe.
class Mailboxes {
 public:
  /// What test() does where only another process can help.
  enum class InVain { returns, sleeps };

  explicit Mailboxes(int processes, std::uint64_t seed = 1, InVain in_vain = InVain::returns)
      : seed_(seed), in_vain_(in_vain) {
    for (int process = 0; process < processes; ++process) ends_.emplace_back(new End(*this, process));
  }

  network::Transport& of(int process) { return *ends_[static_cast<std::size_t>(process)]; }

  /// What went wrong so far; and what is left over, if all should be done.
  std::vector<std::string> complaints() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all = complaints_;
    for (const auto& [ticket, request] : requests_) all.push_back(request.name + " was never seen done");
    for (const auto& [key, lane] : lanes_) {
      for (std::size_t i = 0; i < lane.sent.size(); ++i)
        all.push_back(name("a message", key) + " was never received");
      for (std::size_t i = 0; i < lane.wanted.size(); ++i)
        all.push_back(name("a receive", key) + " never got a message");
    }
    return all;
  }

  /// From now on test() throws for messages with this tag.
  void break_tag(int tag) {
    const std::lock_guard lock(mutex_);
    broken_tag_ = tag;
  }
  /// How many messages have been sent.
  std::size_t messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  int drives(int process) const { return ends_[static_cast<std::size_t>(process)]->drives; }

 private:
  using Bytes = std::vector<std::byte>;
  struct Key {
    int from, to, tag;
    auto operator<=>(const Key&) const = default;
  };
  struct Message {
    Bytes data;
    bool received = false;
  };
  struct Request {
    std::string name;
    Key key;
    bool is_send;
    std::shared_ptr<Message> message;  // a receive's: null until its message is sent
    const std::byte* source;           // of a send
    std::byte* target;                 // of a receive
    std::size_t bytes;
    int delay = 0;  // so often test() says false when it could say true
    bool waits_for_receiver = false;
  };
  /// Messages without a receive, or receives without a message, in their order.
  struct Lane {
    std::deque<std::shared_ptr<Message>> sent;
    std::deque<network::Ticket> wanted;
    int sends = 0, receives = 0;
  };

  struct End final : network::Transport {
    End(Mailboxes& all, int number) : boxes(all), process(number) {}
    network::Ticket send(int to, int tag, const void* data, std::size_t bytes) override {
      return boxes.send({process, to, tag}, data, bytes);
    }
    network::Ticket receive(int from, int tag, void* data, std::size_t bytes) override {
      return boxes.receive({from, process, tag}, data, bytes);
    }
    bool test(network::Ticket ticket) override { return boxes.test(ticket, *this); }
    std::optional<network::Arrival> probe(int tag) override { return boxes.probe(process, tag); }
    void make_progress() override { ++drives; }
    int tags() const override { return 1 << 10; }
    Mailboxes& boxes;
    int process;
    int drives = 0;  // of this process's thread alone
    // What happened to this process's messages, and what of it a test in vain has seen.
    std::uint64_t events = 0, seen = 0;
    std::condition_variable event;
  };

  static constexpr std::byte rubbish{0xdb};

  static std::string name(const char* what, const Key& key) {
    return std::string(what) + " from process " + std::to_string(key.from) + " to " + std::to_string(key.to) +
           " with tag " + std::to_string(key.tag);
  }

  /// splitmix64 of the seed and all numbers.
  template <class... Numbers>
  std::uint64_t chance(Numbers... numbers) const {
    std::uint64_t mixed = seed_;
    for (const std::uint64_t number : {static_cast<std::uint64_t>(numbers)...}) {
      mixed = (mixed ^ number) + 0x9e3779b97f4a7c15u;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      mixed ^= mixed >> 31;
    }
    return mixed;
  }
  // Mostly none or short, now and then so long that everything else overtakes it.
  int delay_of(const Key& key, int number, int side) const {
    const std::uint64_t dice = chance(key.from, key.to, key.tag, number, side);
    switch (dice % 8) {
      case 0:
        return 20 + static_cast<int>(dice / 8 % 60);
      case 1:
      case 2:
      case 3:
        return static_cast<int>(dice / 8 % 6);
      default:
        return 0;
    }
  }

  network::Ticket send(const Key& key, const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Lane& lane = lanes_[key];
    auto message = std::make_shared<Message>();
    const auto* first = static_cast<const std::byte*>(data);
    if (bytes > 0) message->data.assign(first, first + bytes);
    Request request{name("a send", key),         key, true, message, first, nullptr, bytes,
                    delay_of(key, lane.sends, 0)};
    request.waits_for_receiver = chance(key.from, key.to, key.tag, lane.sends, 2) % 2 == 0;
    ++lane.sends;
    ++messages_;
    if (lane.wanted.empty()) {
      lane.sent.push_back(message);
    } else {
      requests_.at(lane.wanted.front()).message = message;
      lane.wanted.pop_front();
      tell(key.to);
    }
    return add(std::move(request));
  }

  network::Ticket receive(const Key& key, void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Lane& lane = lanes_[key];
    auto* target = static_cast<std::byte*>(data);
    std::fill_n(target, bytes, rubbish);
    Request request{name("a receive", key),         key, false, nullptr, nullptr, target, bytes,
                    delay_of(key, lane.receives, 1)};
    ++lane.receives;
    const bool is_there = !lane.sent.empty();
    if (is_there) {
      request.message = lane.sent.front();
      lane.sent.pop_front();
    }
    const network::Ticket ticket = add(std::move(request));
    if (!is_there) lane.wanted.push_back(ticket);
    return ticket;
  }

  std::optional<network::Arrival> probe(int process, int tag) {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, lane] : lanes_)
      if (key.to == process && key.tag == tag && !lane.sent.empty() && chance(++probes_, process) % 3 != 0) {
        last_moved_ = std::chrono::steady_clock::now();
        return network::Arrival{key.from, lane.sent.front()->data.size()};
      }
    return std::nullopt;
  }

  network::Ticket add(Request request) {
    requests_.emplace(++last_ticket_, std::move(request));
    return last_ticket_;
  }

  void tell(int process) {
    End& end = *ends_[static_cast<std::size_t>(process)];
    ++end.events;
    end.event.notify_one();
  }

  /// Threads that look again and again take the processor from the one that they wait for.
  void sleep(std::unique_lock<std::mutex>& lock, End& end) const {
    constexpr auto limit = std::chrono::milliseconds(100);  // a test that hangs shall say where
    if (in_vain_ == InVain::sleeps) end.event.wait_for(lock, limit, [&] { return end.events != end.seen; });
    end.seen = end.events;
  }

  bool test(network::Ticket ticket, End& end) {
    std::unique_lock lock(mutex_);
    const auto found = requests_.find(ticket);
    if (found == requests_.end()) {
      complaints_.push_back("a test of a ticket that was seen done or never given");
      throw Error(complaints_.back());
    }
    Request& request = found->second;
    if (request.key.tag == broken_tag_) {
      const std::string broken = request.name + ": the network broke";
      requests_.erase(found);
      throw Error(broken);
    }
    if (!is_possible(request)) {
      nothing_yet(request);
      sleep(lock, end);
      return false;
    }
    if (request.delay-- > 0) {
      ++end.events;  // the next test may say true
      return nothing_yet(request);
    }
    last_moved_ = std::chrono::steady_clock::now();
    const Request done = std::move(request);
    requests_.erase(found);
    finish(done);
    return true;
  }

  static bool is_possible(const Request& request) {
    if (!request.is_send) return request.message != nullptr;
    return request.message->received || !request.waits_for_receiver;
  }

  // A test that hangs shall say where.
  bool nothing_yet(const Request& request) const {
    constexpr auto spin_limits = std::chrono::seconds(60);
    if (std::chrono::steady_clock::now() - last_moved_ > spin_limits)
      throw Error("no message has been done for a minute; one that is tested: " + request.name);
    return false;
  }

  void finish(const Request& request) {
    if (request.is_send) {
      if (request.bytes > 0 && std::memcmp(request.source, request.message->data.data(), request.bytes) != 0)
        complaints_.push_back(request.name + ": its data were changed while it was under way");
      return;
    }
    Message& message = *request.message;
    message.received = true;
    tell(request.key.from);
    if (message.data.size() != request.bytes) {
      complaints_.push_back(request.name + ": a message of " + std::to_string(message.data.size()) +
                            " bytes, where " + std::to_string(request.bytes) + " are expected");
      throw Error(complaints_.back());
    }
    for (std::size_t i = 0; i < request.bytes; ++i)
      if (request.target[i] != rubbish) {
        complaints_.push_back(request.name + ": its memory was written to while it was under way");
        break;
      }
    if (request.bytes > 0) std::memcpy(request.target, message.data.data(), request.bytes);
  }

  mutable std::mutex mutex_;
  std::uint64_t seed_;
  InVain in_vain_;
  std::vector<std::unique_ptr<End>> ends_;
  std::map<Key, Lane> lanes_;
  std::map<network::Ticket, Request> requests_;
  network::Ticket last_ticket_ = 0;
  std::vector<std::string> complaints_;
  std::size_t messages_ = 0;
  std::uint64_t probes_ = 0;
  int broken_tag_ = -1;
  std::chrono::steady_clock::time_point last_moved_ = std::chrono::steady_clock::now();
};

}  // namespace espalier::testing
