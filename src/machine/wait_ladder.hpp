// The ladder, rung by rung: the members of BasicWaiter that are worth a call. Included by those who
// instantiate it for a platform.
#pragma once

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "machine/wait.hpp"

namespace espalier::machine {

// Without ranks' records the mark alone says it.
template <class Platform>
std::size_t BasicWaiter<Platform>::other_length(int peer, std::size_t expected,
                                                Fingerprint difference) const {
  if (mistake_.length) return mistake_.length(mistake_.context, peer, expected, difference);
  if (!of_one_call(difference, 0)) return 0;
  compare_lengths(peer, difference, expected);
  return difference;
}

template <class Platform>
PairLengths BasicWaiter<Platform>::other_pair(int peer, const PairLengths& expected,
                                              Fingerprint difference) const {
  if (mistake_.pair) return mistake_.pair(mistake_.context, peer, expected, difference);
  throw Error(formatted("rank {} does not send the {} bytes that are expected, or expects others than {}",
                        peer, expected.out, expected.in));
}

template <class Platform>
void BasicWaiter<Platform>::refuse_length(int peer, std::size_t sent, std::size_t expected, bool own) const {
  if (mistake_.refuse) mistake_.refuse(mistake_.context, peer, sent, expected, own);
  throw Error(formatted("{} bytes are sent {} rank {} where {} are expected", sent, own ? "to" : "by", peer,
                        expected));
}

template <class Platform>
void BasicWaiter<Platform>::climb(Line& line, Step step) {
  if (hook_.progress.is_needed())
    serve_others(line, step);
  else if (!spin(line, step) && !yield(line, step))
    sleep(line, step);
}

// In place of all rungs: what another rank asks the host for here takes as many calls of its progress as it
// has messages, and any of them may be short, so neither their number nor their time says that it was the
// last.
template <class Platform>
void BasicWaiter<Platform>::serve_others(const Line& line, Step step) {
  policy_.spins > 0 ? serve_on_own_core(line, step) : serve_on_shared_core(line, step);
}

// Yields now and then, in case another process computes there, but for no more than a fifth of the time:
// other ranks wait for this one, and the kernel gives such a process milliseconds.
template <class Platform>
void BasicWaiter<Platform>::serve_on_own_core(const Line& line, Step step) {
  std::int64_t next_yield_ns = 0;
  for (unsigned round = 1; line.step.load(std::memory_order_acquire) < step; ++round) {
    if (!serve_others_once(round)) continue;
    const std::int64_t begin = Platform::now_ns();
    if (begin < next_yield_ns) continue;
    ++counts_.yield;
    Platform::yield();
    const std::int64_t end = Platform::now_ns();
    next_yield_ns = end + 4 * (end - begin);
  }
}

// Yields after some calls that found nothing: a rank that yields after each misses most of what comes
// meanwhile. A call that took long has worked, or has yielded itself.
template <class Platform>
void BasicWaiter<Platform>::serve_on_shared_core(const Line& line, Step step) {
  constexpr std::int64_t long_ns = 1000;
  constexpr int most_in_vain = 16;
  int in_vain = 0;
  for (unsigned round = 1; line.step.load(std::memory_order_acquire) < step; ++round) {
    const std::int64_t begin = Platform::now_ns();
    serve_others_once(round);
    if (Platform::now_ns() - begin > long_ns || ++in_vain < most_in_vain) continue;
    in_vain = 0;
    ++counts_.yield;
    Platform::yield();
  }
}

// Drives the host alone, and now and then all else, too, which takes as long again; true: all.
template <class Platform>
bool BasicWaiter<Platform>::serve_others_once(unsigned round) {
  constexpr unsigned rounds_between_all = 16;
  const bool all = round % rounds_between_all == 0;
  if (all || !hook_.progress.drive) {
    make_progress();
  } else {
    ++counts_.progress;
    hook_.progress.drive(hook_.progress.context);
  }
  return all;
}

// Learns from what waits cost: when spinning did not help, the next spin is shorter (a stranger has the core
// that the awaited rank needs); when it did, longer again.
template <class Platform>
bool BasicWaiter<Platform>::spin(const Line& line, Step step) {
  ++counts_.spin;
  for (int i = 0; i < spin_budget_; ++i) {
    if (line.step.load(std::memory_order_acquire) >= step) {
      spin_budget_ = std::min(policy_.spins, spin_budget_ * 2);
      return true;
    }
    Platform::pause();
  }
  if (policy_.spins > 0) spin_budget_ = std::max(policy_.spins / 4, spin_budget_ / 2);
  return false;
}

// Learns, too: where a single yield takes long, the core went to a process that computes (a stranger, or a
// rank that is busy), and who sleeps comes back sooner, because the kernel prefers the one that wakes. Many
// short yields in vain only say that the awaited rank is late: then it sleeps this once.
template <class Platform>
bool BasicWaiter<Platform>::yield(const Line& line, Step step) {
  if (waits_without_yields_ > 0) {
    --waits_without_yields_;
    return false;
  }
  const std::int64_t begin = Platform::now_ns();
  std::int64_t now = begin;
  for (int i = 0; i < policy_.yields && now - begin < policy_.long_yield_ns; ++i) {
    if (line.step.load(std::memory_order_acquire) >= step) {
      rest_from_yields_ = least_rest;
      return true;
    }
    drive_now_and_then(now);
    ++counts_.yield;
    const std::int64_t before = now;
    Platform::yield();
    now = Platform::now_ns();
    if (now - before >= policy_.long_yield_ns) {
      waits_without_yields_ = std::min(rest_from_yields_, policy_.longest_rest);
      rest_from_yields_ = std::min(rest_from_yields_ * 2, policy_.longest_rest);
    }
  }
  return false;
}

template <class Platform>
void BasicWaiter<Platform>::sleep(Line& line, Step step) {
  std::uint32_t sleep_us = policy_.first_sleep_us;
  for (;;) {
    const Step seen = line.step.load(std::memory_order_acquire);
    if (seen >= step) return;
    if (hook_.progress.is_needed())
      return serve_others(line, step);  // another thread has made a window meanwhile
    if (drive_while_it_works(line, step)) return;
    ++counts_.sleep;
    fall_asleep(line, seen, sleep_us);
    sleep_us = std::min(sleep_us * 2, policy_.last_sleep_us);
  }
}

template <class Platform>
void BasicWaiter<Platform>::fall_asleep(Line& line, Step seen, std::uint32_t microseconds) {
  line.sleepers.fetch_add(1, std::memory_order_relaxed);
  // Orders the mark before the look at the step; pairs with the fence in signal().
  Platform::fence(std::memory_order_seq_cst);
  if (line.step.load(std::memory_order_relaxed) == seen)
    Platform::futex_wait(line, static_cast<std::uint32_t>(seen), microseconds);
  line.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

template <class Platform>
void BasicWaiter<Platform>::wake(Line& line) {
  Platform::futex_wake_all(line);
}

// By time, and by yields: with many ranks on a core each gets little of it in that time, of which a progress
// call would take a third (system calls, and hosts that yield themselves).
template <class Platform>
void BasicWaiter<Platform>::drive_now_and_then(std::int64_t now) {
  if (++yields_since_drive_ < policy_.yields_per_drive || now - last_drive_ns_ < policy_.drive_interval_ns)
    return;
  last_drive_ns_ = now;
  yields_since_drive_ = 0;
  make_progress();
}

// Also asleep the host's messages go on (invariant 2). A host may push a long message on by some tens of
// kilobytes a time, and the next time is a timed sleep away: so again as long as a progress call takes longer
// than one that finds nothing to do. No more of those: on an oversubscribed core the awaited rank would pay
// for them. True: the step has come meanwhile. It is looked for after every progress call, because a host
// that yields or sleeps when it finds nothing (Open MPI, Intel MPI with more ranks than cores) seems to work
// each time: a rank that did not look for sixteen of its turns kept all others waiting until they slept, too,
// in every call.
template <class Platform>
bool BasicWaiter<Platform>::drive_while_it_works(const Line& line, Step step) {
  constexpr int most = 16;
  for (int i = 0; i < most; ++i) {
    const std::int64_t begin = Platform::now_ns();
    make_progress();
    const std::int64_t took = Platform::now_ns() - begin;
    least_drive_ns_ = std::min(least_drive_ns_, took);
    if (line.step.load(std::memory_order_acquire) >= step) return true;
    if (took <= 2 * least_drive_ns_) return false;
  }
  return false;
}

template <class Platform>
void BasicWaiter<Platform>::make_progress() {
  ++counts_.progress;
  if (hook_.function) hook_.function(hook_.context);
}

}  // namespace espalier::machine
