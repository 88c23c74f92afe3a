#include "switch.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "time.hpp"

namespace {
constexpr int kInTurn = 16;                      // frames taken from one port before the next has its turn
constexpr std::uint64_t kGroupBit = 1ull << 40;  // of Ethernet addresses: for many receivers
}  // namespace

Switch::Switch(const Options& options)
    : delay_ns_(static_cast<std::int64_t>(options.delay_us * 1000)),
      ns_per_byte_(options.rate_mbit > 0 ? 8000.0 / options.rate_mbit : 0) {
  for (const std::string& name : options.ports) ports_.emplace_back(name);
}

std::int64_t Switch::send_due() {
  std::int64_t next = -1;
  for (Port& port : ports_) {
    const std::int64_t due = port.send_due(now_ns());
    if (due >= 0 && (next < 0 || due < next)) next = due;
  }
  return next;
}

void Switch::run(const std::atomic<bool>& stop) {
  sigset_t none;
  sigemptyset(&none);
  std::vector<pollfd> polled;
  for (const Port& port : ports_) polled.push_back({port.descriptor(), POLLIN, 0});
  while (!stop.load(std::memory_order_relaxed)) {
    const std::int64_t due = send_due();
    const std::int64_t left = std::max<std::int64_t>(0, due - now_ns());
    const timespec wait = {static_cast<time_t>(left / 1'000'000'000),
                           static_cast<long>(left % 1'000'000'000)};
    if (ppoll(polled.data(), polled.size(), due < 0 ? nullptr : &wait, &none) <= 0) continue;
    for (std::size_t i = 0; i < polled.size(); ++i)
      if (polled[i].revents) take_in(i);
  }
}

void Switch::take_in(std::size_t from) {
  for (int i = 0; i < kInTurn; ++i) {
    const std::span<const std::byte> frame = ports_[from].receive();
    if (frame.empty()) return;
    pass_on(from, frame);
  }
}

void Switch::pass_on(std::size_t from, std::span<const std::byte> frame) {
  behind_[source_of(frame)] = from;
  const auto wire_ns = static_cast<std::int64_t>(static_cast<double>(wire_bytes(frame)) * ns_per_byte_);
  const std::int64_t start = std::max(now_ns(), ports_[from].free_in_ns);
  ports_[from].free_in_ns = start + wire_ns;
  const std::uint64_t destination = destination_of(frame);
  const auto known = behind_.find(destination);
  if (!(destination & kGroupBit) && known != behind_.end()) {
    if (known->second != from) queue(known->second, frame, start, wire_ns);
    return;
  }
  for (std::size_t to = 0; to < ports_.size(); ++to)
    if (to != from) queue(to, frame, start, wire_ns);
}

// The wire out of the switch is busy with a frame as long as the wire into it was.
void Switch::queue(std::size_t to, std::span<const std::byte> frame, std::int64_t start_ns,
                   std::int64_t wire_ns) {
  Port& port = ports_[to];
  const std::int64_t due = std::max(start_ns + delay_ns_, port.free_out_ns) + wire_ns;
  if (port.enqueue(due, frame)) port.free_out_ns = due;
}

void Switch::print_counts() const {
  std::uint64_t sent = 0, dropped = 0;
  for (const Port& port : ports_) sent += port.sent, dropped += port.dropped;
  std::fprintf(stderr, "delaying_switch: %llu frames sent, %llu dropped\n",
               static_cast<unsigned long long>(sent), static_cast<unsigned long long>(dropped));
}
