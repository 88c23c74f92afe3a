// How a rank waits: spin, drive the host's progress, yield, sleep (DESIGN, idea 6).
#pragma once

#include <cstdint>
#include <limits>

#include "machine/fingerprint.hpp"
#include "machine/host_platform.hpp"
#include "machine/progress.hpp"

namespace espalier::machine {

/// The rungs of the ladder for one communicator, private to a rank.
struct WaitPolicy {
  int fast_spins = 0;  ///< polls without pause: the answer is expected within a few cache-line transfers
  int spins = 0;       ///< polls with pause
  int yields = 0;      ///< sched_yield between polls, the host's progress driven now and then
  std::int64_t long_yield_ns = 500'000;  ///< then sleep, even if yields are left
  /// After a single yield that took `long_yield_ns` at most so many waits go without yields: another process
  /// computes on this core.
  int longest_rest = 0;
  /// While it yields, a rank drives the host at most so often: a host's progress engine may cost microseconds
  /// (system calls), which the other ranks of an oversubscribed core wait for.
  std::uint32_t drive_interval_ns = 0;
  int yields_per_drive = 0;  ///< and not before it has yielded so often
  /// A timed sleep ends by itself, so that the host's progress is driven also asleep.
  std::uint32_t first_sleep_us = 50;
  std::uint32_t last_sleep_us = 2000;
  /// Whether signal() has a fence between its flag and its look at the number of sleepers. Off when every
  /// rank has a core: then sleepers are rare, and a wake-up lost to the missing fence costs one timed sleep,
  /// while the fence would cost every call.
  bool fenced = false;
};

/// What drives the host MPI while this rank waits.
struct ProgressHook {
  void (*function)(void*) = nullptr;
  void* context = nullptr;
  Progress progress{};
};

/// What is told when a flag line seems to be of another call than this rank's. `peer`: the writer, or -1 if
/// several ranks have written there. The function throws if the calls differ; they may only seem to, if the
/// line is thousands of calls ahead.
struct Mistake {
  void (*function)(void* context, int peer) = nullptr;
  void* context = nullptr;
  /// Of a line that announces a block of another length than the `expected` one, or is of another call. How long
  /// the block is; throws if that is more. `difference`: of the fingerprints.
  std::size_t (*length)(void* context, int peer, std::size_t expected, Fingerprint difference) = nullptr;
  /// Of two ranks that exchange blocks: what the other sends, and expects, if its line has another mark than these.
  PairLengths (*pair)(void* context, int peer, const PairLengths& expected, Fingerprint difference) = nullptr;
  /// Throws, because a peer sends `sent` bytes where others are expected, as it has said elsewhere; or, if `own`, this
  /// rank sends them to the peer.
  void (*refuse)(void* context, int peer, std::size_t sent, std::size_t expected, bool own) = nullptr;
};

/// Rungs climbed, for the statistics.
struct WaitCounts {
  std::uint64_t spin = 0, progress = 0, yield = 0, sleep = 0;
};

enum class WaitMode { automatic, spin, yield, sleep };

/// The ladder for `ranks_per_core` runnable ranks on each usable core.
WaitPolicy wait_policy(WaitMode mode, double ranks_per_core);

/// The same for a thread on whose core its process computes meanwhile.
WaitPolicy in_background(WaitPolicy policy);

/// Waits on flag lines. One per communicator and rank; used by one thread at a time. The rungs of the ladder
/// are in wait_ladder.hpp.
template <class Platform>
class BasicWaiter {
 public:
  using Line = typename Platform::Line;

  BasicWaiter() = default;
  BasicWaiter(WaitPolicy policy, ProgressHook hook)
      : policy_(policy), hook_(hook), spin_budget_(policy.spins) {}

  /// Between calls: from the next one on by these rungs.
  void wait_by(WaitPolicy policy) {
    policy_ = policy;
    spin_budget_ = policy.spins;
  }

  /// The fingerprint of this rank's call: its lines bear it from now on, and those that it waits for should.
  void begin_call(Fingerprint fingerprint) { fingerprint_ = fingerprint; }
  Fingerprint fingerprint() const { return fingerprint_; }
  /// What is told of lines with another fingerprint; without it they are ignored.
  void on_mistake(Mistake mistake) { mistake_ = mistake; }
  void report_mistake(int peer) const {
    if (mistake_.function) mistake_.function(mistake_.context, peer);
  }

  /// The same of a line that says what both of two ranks exchange. Returns that of the other.
  PairLengths await_pair(Line& line, Step step, int peer, const PairLengths& expected) {
    await_any(line, step);
    const Fingerprint difference = line.fingerprint.load(std::memory_order_relaxed) ^ fingerprint_;
    if (difference == length_mark(expected)) [[likely]]
      return expected;
    return other_pair(peer, expected, difference);
  }
  void signal_pair(Line& line, Step step, const PairLengths& own) const {
    signal_as(fingerprint_ ^ length_mark(own), line, step);
  }

  /// As await(), on a line that cannot be ahead. False: it is, because its writer has left this step out.
  bool await_exactly(Line& line, Step step, int peer) {
    await(line, step, peer);
    return line.step.load(std::memory_order_relaxed) == step;  // relaxed: await() has seen it, or a later one
  }

  /// A peer has said that it sends `sent` bytes where `expected` are. Throws if these are fewer.
  void compare_lengths(int peer, std::size_t sent, std::size_t expected) const {
    if (sent > expected) [[unlikely]]
      refuse_length(peer, sent, expected);
  }
  /// Throws, because they differ. `own`: it is this rank that sends, and the peer that expects.
  [[gnu::cold, gnu::noinline, noreturn]] void refuse_length(int peer, std::size_t sent, std::size_t expected,
                                                            bool own = false) const;

  /// Waits until line.step >= step. Acquire: pairs with the release in signal(), so whatever the publisher
  /// wrote before is visible. `peer` is the rank that this one waits for.
  void await(Line& line, Step step, int peer) {
    for (int i = 0; i < policy_.fast_spins; ++i)
      if (line.step.load(std::memory_order_acquire) >= step) return compare_calls(line, peer);
    climb(line, step);
    compare_calls(line, peer);
  }

  /// The same for a line that signal_block() writes, and that cannot be ahead: its writer waits for this rank before
  /// it writes there again. Returns how long the block is. Throws if it is longer than `expected`.
  std::size_t await_block(Line& line, Step step, int peer, std::size_t expected) {
    await_any(line, step);
    return compare_length(line, peer, expected);
  }

  /// Announces `step` on a line that this rank alone writes at this step, and wakes the ranks that sleep on
  /// it.
  void signal(Line& line, Step step) const { signal_as(fingerprint_, line, step); }
  /// The same for the first chunk of a block, to one reader, who hears how long the block is.
  void signal_block(Line& line, Step step, std::size_t bytes) const {
    signal_as(fingerprint_ ^ length_mark(bytes), line, step);
  }

  const WaitCounts& counts() const { return counts_; }
  const WaitPolicy& policy() const { return policy_; }

 private:
  void signal_as(Fingerprint fingerprint, Line& line, Step step) const {
    // relaxed: the release below orders it for a rank that sees this step.
    line.fingerprint.store(fingerprint, std::memory_order_relaxed);
    line.step.store(step, std::memory_order_release);  // pairs with the acquire load in await()
    // Orders the store above before the load below (Dekker with fall_asleep(): either the sleeper sees the
    // step, or we see its mark).
    if (policy_.fenced) Platform::fence(std::memory_order_seq_cst);
    if (line.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake(line);
  }
  // relaxed: it was written before the step that await() has seen (acquire), or for a later step.
  void compare_calls(const Line& line, int peer) const {
    const Fingerprint theirs = line.fingerprint.load(std::memory_order_relaxed);
    if (theirs != fingerprint_ && of_one_call(theirs, fingerprint_)) [[unlikely]]
      report_mistake(peer);
  }
  void await_any(Line& line, Step step) {
    for (int i = 0; i < policy_.fast_spins; ++i)
      if (line.step.load(std::memory_order_acquire) >= step) return;
    climb(line, step);
  }
  // relaxed: as above.
  std::size_t compare_length(const Line& line, int peer, std::size_t expected) const {
    const Fingerprint difference = line.fingerprint.load(std::memory_order_relaxed) ^ fingerprint_;
    if (difference == length_mark(expected)) [[likely]]
      return expected;
    return other_length(peer, expected, difference);
  }
  [[gnu::cold, gnu::noinline]] PairLengths other_pair(int peer, const PairLengths& expected,
                                                      Fingerprint difference) const;
  [[gnu::cold, gnu::noinline]] std::size_t other_length(int peer, std::size_t expected,
                                                        Fingerprint difference) const;
  void climb(Line& line, Step step);
  void serve_others(const Line& line, Step step);
  void serve_on_own_core(const Line& line, Step step);
  void serve_on_shared_core(const Line& line, Step step);
  bool serve_others_once(unsigned round);
  bool spin(const Line& line, Step step);
  bool yield(const Line& line, Step step);
  void sleep(Line& line, Step step);
  void fall_asleep(Line& line, Step seen, std::uint32_t microseconds);
  static void wake(Line& line);
  void drive_now_and_then(std::int64_t now);
  bool drive_while_it_works(const Line& line, Step step);
  void make_progress();

  WaitPolicy policy_;
  ProgressHook hook_;
  WaitCounts counts_;
  std::int64_t last_drive_ns_ = 0;
  int yields_since_drive_ = 0;
  std::int64_t least_drive_ns_ = std::numeric_limits<std::int64_t>::max() / 2;  // what one in vain takes
  int spin_budget_ = 0;
  static constexpr int least_rest = 4;
  int waits_without_yields_ = 0;
  int rest_from_yields_ = least_rest;
  Fingerprint fingerprint_ = 0;
  Mistake mistake_;
};

/// Waits of programs, on real memory; instantiated in wait.cpp.
using Waiter = BasicWaiter<HostPlatform>;
extern template class BasicWaiter<HostPlatform>;

}  // namespace espalier::machine
