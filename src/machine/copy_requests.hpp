// Reads of another rank's memory that the system refuses in mid-call, as after setuid() or under a seccomp
// filter: the reader asks the owner, which copies page by page through shared memory, in whatever it waits
// for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/fingerprint.hpp"
#include "machine/layout.hpp"

namespace espalier::machine {

/// A reader's requests and an owner's answers; one per communicator and rank. The owner always comes to
/// serve: its buffer is its own again only when the reader has finished the step, so it waits for that in the
/// same call. A reader that waits for its owner serves others meanwhile, so no circle of ranks can hold
/// itself up.
template <class Platform>
class CopyRequests {
 public:
  using Line = typename Platform::Line;
  using Waiter = typename Platform::Waiter;

  CopyRequests(std::byte* share, const Layout& layout, int rank)
      : share_(share), layout_(layout), rank_(rank) {}

  void add_slots(std::size_t slots_from) { layout_.slots_from = slots_from; }

  /// Others may ask for these bytes, in this call. What a rank has not shown to others it does not copy for
  /// them either: a request comes from another process.
  void allow(const void* source, std::size_t bytes, Fingerprint call) {
    if (call != allowed_in_) allowed_.clear();
    allowed_in_ = call;
    allowed_.push_back({reinterpret_cast<std::uint64_t>(source), bytes});
  }

  /// Copies from `source` in the memory of `owner`. Throws what the waiter throws.
  void fetch(Waiter& waiter, int owner, void* target, const void* source, std::size_t bytes) {
    // relaxed: see serve(). It stays where a wait throws: then the communicator serves no more calls.
    open_requests().fetch_add(1, std::memory_order_relaxed);
    for (std::size_t done = 0; done < bytes; done += Layout::page) {
      const std::size_t part = std::min(bytes - done, Layout::page);
      ask(waiter, owner, {reinterpret_cast<std::uint64_t>(source) + done, part, waiter.fingerprint()});
      waiter.await(answer_line(rank_), asked_, owner);
      Platform::copy(static_cast<std::byte*>(target) + done, Layout::place(share_, layout_.copied(rank_)),
                     part);
    }
    open_requests().fetch_add(~Step{0}, std::memory_order_relaxed);
  }

  /// Copies for all that ask this rank, and goes on while they ask again at once. To be called in every wait.
  void serve(const Waiter& waiter) {
    // relaxed: it only tells whether to look at the requests, which are ordered by their own lines.
    if (open_requests().load(std::memory_order_relaxed) == 0) return;
    constexpr int most_idle = 16;  // a reader copies a page in less time, unless it has to wait for a core
    for (int idle = serve_each(waiter) ? 0 : most_idle; idle < most_idle; ++idle) {
      Platform::yield();
      if (serve_each(waiter)) idle = 0;
    }
  }

 private:
  struct Range {
    std::uint64_t begin, bytes;
  };
  /// In a request line.
  struct Request {
    std::uint64_t address, bytes;
    Fingerprint call;
  };
  using Counter = decltype(Line::step);

  /// The step of a request names its owner, too: ranks that are not asked do not look at what stands beside
  /// it.
  Step step_of(Step number, int owner) const {
    return number * static_cast<Step>(layout_.ranks) + static_cast<Step>(owner);
  }

  void ask(const Waiter& waiter, int owner, const Request& request) {
    Line& line = request_line(rank_);
    Platform::copy_small(line.payload, &request, sizeof request);
    waiter.signal(line, step_of(++asked_, owner));
  }

  bool serve_each(const Waiter& waiter) {
    bool any = false;
    for (int reader = 0; reader < layout_.ranks; ++reader)
      if (reader != rank_ && serve_one(waiter, reader)) any = true;
    return any;
  }

  bool serve_one(const Waiter& waiter, int reader) {
    // acquire: pairs with signal() in ask(); the request is complete, and the reader has done with the page.
    const Step asked = request_line(reader).step.load(std::memory_order_acquire);
    const auto ranks = static_cast<Step>(layout_.ranks);
    if (asked < ranks || asked % ranks != static_cast<Step>(rank_)) return false;
    // relaxed: of the answers to this rank's requests, this one has given all that count here.
    if (answer_line(reader).step.load(std::memory_order_relaxed) >= asked / ranks) return false;
    Request request;
    Platform::copy_small(&request, request_line(reader).payload, sizeof request);
    if (!is_allowed(request, waiter.fingerprint())) return false;
    Platform::copy(Layout::place(share_, layout_.copied(reader)),
                   reinterpret_cast<const void*>(request.address), request.bytes);
    waiter.signal(answer_line(reader), asked / ranks);
    return true;
  }

  /// A request that was left behind by a call that failed is of another call.
  bool is_allowed(const Request& request, Fingerprint call) const {
    if (request.call != call || allowed_in_ != call || request.bytes > Layout::page) return false;
    return std::any_of(allowed_.begin(), allowed_.end(), [&](const Range& range) {
      return request.address >= range.begin && request.address - range.begin <= range.bytes &&
             request.bytes <= range.bytes - (request.address - range.begin);
    });
  }

  Line& line_at(std::size_t offset) const { return *reinterpret_cast<Line*>(share_ + offset); }
  Counter& open_requests() const { return line_at(layout_.open_requests()).step; }
  Line& request_line(int rank) const { return line_at(layout_.request_line(rank)); }
  Line& answer_line(int rank) const { return line_at(layout_.answer_line(rank)); }

  std::byte* share_;
  Layout layout_;
  int rank_;
  Step asked_ = 0;
  std::vector<Range> allowed_;
  Fingerprint allowed_in_ = 0;
};

}  // namespace espalier::machine
