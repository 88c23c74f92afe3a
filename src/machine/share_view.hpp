// What the parts of the machine stand on: the share of a communicator, seen from one of its ranks.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "machine/concept.hpp"
#include "machine/host_platform.hpp"
#include "machine/layout.hpp"
#include "machine/wait.hpp"

namespace espalier::machine {

/// Models KnowsRanks.
template <class Platform>
class ShareView {
 public:
  using Line = typename Platform::Line;
  using Waiter = typename Platform::Waiter;

  ShareView(std::byte* share, const Layout& layout, int rank, WaitPolicy policy, ProgressHook hook)
      : share_(share), layout_(layout), waiter_(policy, hook), rank_(rank) {
    homes_.reserve(static_cast<std::size_t>(layout.ranks));
    other_ranks_.reserve(static_cast<std::size_t>(layout.ranks) - 1);
    for (int peer = 0; peer < layout.ranks; ++peer) {
      if (peer != rank) other_ranks_.push_back(peer);
      homes_.push_back({share + layout.control_block(peer), nullptr, nullptr});
    }
    if (layout.slots_from != Layout::no_slots_yet) find_slots();
  }

  int rank() const { return rank_; }
  int size() const { return layout_.ranks; }
  std::span<const int> other_ranks() const { return other_ranks_; }
  const Waiter& waiter() const { return waiter_; }
  void wait_by(WaitPolicy policy) { waiter_.wait_by(policy); }

  /// The share has slots from now on: they are in another one, so far behind it. Until then no step may take
  /// any.
  void add_slots(std::size_t slots_from) {
    layout_.slots_from = slots_from;
    find_slots();
  }

  /// What this rank's flag lines say from now on, and what its peers' are to say: all ranks alike, or
  /// `mistake` hears of it. Without it no rank compares.
  void begin_call(Fingerprint fingerprint) { waiter_.begin_call(fingerprint); }
  void on_mistake(Mistake mistake) { waiter_.on_mistake(mistake); }

 protected:
  /// Where a rank's parts of the share begin: worked out once, for a short call asks for them many times.
  struct Home {
    std::byte *control_block, *ring, *cells;
  };
  const Home& home(int rank) const { return homes_[static_cast<std::size_t>(rank)]; }

  Line& line_at(std::size_t offset) { return line_of(share_ + offset); }
  Line& line(Channel channel, int peer, Step step) {
    return line_of(home(peer).control_block + layout_.line_in_control_block(static_cast<int>(channel), step));
  }
  Line& finish_line(int peer) { return line_of(home(peer).control_block); }

  // acquire: pairs with the release in signal(), as await() does.
  static bool reached(const Line& line, Step step) {
    return line.step.load(std::memory_order_acquire) >= step;
  }

  pid_t process_of(int peer) const {
    pid_t process = 0;
    std::memcpy(&process, share_ + layout_.process(peer), sizeof process);
    return process;
  }

  std::byte* share_;
  Layout layout_;
  Waiter waiter_;

 private:
  void find_slots() {
    for (int peer = 0; peer < size(); ++peer) {
      Home& theirs = homes_[static_cast<std::size_t>(peer)];
      theirs.ring = Layout::place(share_, layout_.ring(peer));
      theirs.cells = Layout::place(share_, layout_.pairwise_area(peer));
    }
  }

  static Line& line_of(std::byte* place) { return *reinterpret_cast<Line*>(place); }

  int rank_;
  std::vector<Home> homes_;  // by rank
  std::vector<int> other_ranks_;
};

}  // namespace espalier::machine
