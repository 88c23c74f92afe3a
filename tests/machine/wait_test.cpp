#include "machine/wait.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "machine/wait_ladder.hpp"

namespace espalier::machine {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A progress call that counts.
struct Pokes {
  std::atomic<int> count{0};
  ProgressHook hook() {
    return {[](void* self) { static_cast<Pokes*>(self)->count.fetch_add(1); }, this};
  }
};

TEST(WaitPolicy, DedicatedCoresSpinFirst) {
  const WaitPolicy policy = wait_policy(WaitMode::automatic, 1.0);
  EXPECT_GT(policy.spins, 0);
  EXPECT_GT(policy.yields, 0);
  EXPECT_FALSE(policy.fenced);
}

TEST(WaitPolicy, OversubscribedCoresMakeRoom) {
  const WaitPolicy oversubscribed = wait_policy(WaitMode::automatic, 1.5);
  EXPECT_EQ(oversubscribed.spins, 0);
  EXPECT_GT(oversubscribed.yields, 0);
  EXPECT_LT(oversubscribed.fast_spins, wait_policy(WaitMode::automatic, 1.0).fast_spins);
  EXPECT_TRUE(oversubscribed.fenced) << "sleepers are common: a lost wake-up would cost a timed sleep";
}

TEST(WaitPolicy, ModesOverruleTheCrowd) {
  EXPECT_GT(wait_policy(WaitMode::spin, 8.0).spins, 0);
  EXPECT_EQ(wait_policy(WaitMode::yield, 0.5).spins, 0);
  EXPECT_GT(wait_policy(WaitMode::yield, 0.5).yields, 0);
  const WaitPolicy sleep = wait_policy(WaitMode::sleep, 0.5);
  EXPECT_EQ(sleep.spins + sleep.yields, 0);
  EXPECT_TRUE(sleep.fenced);
}

TEST(WaitPolicy, InTheBackgroundDoesNotYieldAndLooksAsEver) {
  for (const double ranks_per_core : {0.5, 2.0}) {
    const WaitPolicy foreground = wait_policy(WaitMode::automatic, ranks_per_core);
    const WaitPolicy background = in_background(foreground);
    EXPECT_GT(foreground.yields, 0);
    EXPECT_EQ(background.yields, 0);
    EXPECT_EQ(background.spins, foreground.spins);
    EXPECT_EQ(background.fast_spins, foreground.fast_spins);
    EXPECT_TRUE(background.fenced);
  }
}

TEST(Waiter, WhatIsThereCostsNothing) {
  FlagLine line{};
  Pokes drives;
  Waiter waiter(wait_policy(WaitMode::automatic, 1), drives.hook());
  waiter.signal(line, 5);
  waiter.await(line, 5, 0);
  waiter.await(line, 3, 0);
  EXPECT_EQ(waiter.counts().spin + waiter.counts().yield + waiter.counts().sleep, 0u);
  EXPECT_EQ(drives.count, 0);
}

// A timed sleep of ten seconds that ends at once was ended by the signal.
TEST(Waiter, SleeperIsWoken) {
  for (int round = 0; round < 20; ++round) {
    FlagLine line{};
    WaitPolicy policy = wait_policy(WaitMode::sleep, 1);
    policy.first_sleep_us = policy.last_sleep_us = 10'000'000;
    std::atomic<bool> woken{false};
    std::thread sleeper([&] {
      Waiter waiter(policy, {});
      waiter.await(line, 1, 0);
      EXPECT_GT(waiter.counts().sleep, 0u);
      woken = true;
    });
    while (line.sleepers.load() == 0) std::this_thread::yield();
    if (round % 2) std::this_thread::sleep_for(1ms);  // else: perhaps between the mark and the sleep
    const auto start = Clock::now();
    Waiter(policy, {}).signal(line, 1);
    sleeper.join();
    EXPECT_TRUE(woken);
    EXPECT_LT(Clock::now() - start, 5s);
  }
}

TEST(Waiter, AllSleepersOfALineAreWoken) {
  FlagLine line{};
  WaitPolicy policy = wait_policy(WaitMode::sleep, 1);
  policy.first_sleep_us = policy.last_sleep_us = 10'000'000;
  std::atomic<int> asleep{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 5; ++i)
    sleepers.emplace_back([&] {
      const ProgressHook count{[](void* c) { static_cast<std::atomic<int>*>(c)->fetch_add(1); }, &asleep};
      Waiter(policy, count).await(line, 1, 0);
    });
  while (asleep.load() < 5) std::this_thread::yield();
  std::this_thread::sleep_for(5ms);
  const auto start = Clock::now();
  Waiter(policy, {}).signal(line, 1);
  for (auto& each : sleepers) each.join();
  EXPECT_LT(Clock::now() - start, 5s);
}

// Without the fence a wake-up may be lost; then the timed sleep ends by itself.
TEST(Waiter, NapsEndByThemselves) {
  FlagLine line{};
  std::thread sleeper([&] { Waiter(wait_policy(WaitMode::sleep, 1), {}).await(line, 1, 0); });
  while (line.sleepers.load() == 0) std::this_thread::yield();
  line.step.store(1, std::memory_order_release);  // no rank is woken
  sleeper.join();
}

// Invariant 2: whatever the mode, the host's messages go on while a wait lasts.
TEST(Waiter, DrivesTheHostInEveryMode) {
  for (const WaitMode mode : {WaitMode::automatic, WaitMode::spin, WaitMode::yield, WaitMode::sleep})
    for (const double crowd : {0.5, 4.0}) {
      FlagLine line{};
      Pokes drives;
      std::thread waiting([&] { Waiter(wait_policy(mode, crowd), drives.hook()).await(line, 1, 0); });
      const auto deadline = Clock::now() + 10s;
      while (drives.count < 20 && Clock::now() < deadline) std::this_thread::sleep_for(1ms);
      EXPECT_GE(drives.count, 20) << "mode " << static_cast<int>(mode) << ", " << crowd << " ranks a core";
      Waiter(wait_policy(mode, crowd), {}).signal(line, 1);
      waiting.join();
    }
}

// Windows: another rank's next message may come at any time, and needs as many progress calls as it likes.
TEST(Waiter, WhereTheHostIsNeededAWaitDrivesItAllTheTime) {
  struct Host {
    FlagLine line{};
    std::atomic<int> needs{1};
    std::uint64_t drives = 0;
    static void make_progress(void* self) {
      auto* host = static_cast<Host*>(self);
      if (++host->drives == 5000) host->line.step.store(1, std::memory_order_release);
    }
  };
  for (const WaitMode mode : {WaitMode::automatic, WaitMode::spin, WaitMode::yield, WaitMode::sleep})
    for (const double crowd : {0.5, 4.0}) {
      Host host;
      Waiter waiter(wait_policy(mode, crowd),
                    {Host::make_progress, &host, {&host.needs, Host::make_progress, &host}});
      waiter.await(host.line, 1, 0);
      EXPECT_EQ(waiter.counts().progress, 5000u);
      EXPECT_EQ(waiter.counts().sleep, 0u);
      EXPECT_LE(waiter.counts().yield, waiter.counts().progress);
      EXPECT_GT(waiter.counts().yield, 0u) << "others may need the core";
    }
}

/// A clock that calls move on: a call of the host's progress takes 100 ns, and a yield, because another
/// process computes on the core, 4 ms.
struct BusyCore {
  using Line = FlagLine;
  static inline std::int64_t now = 0;
  static void fence(std::memory_order) {}
  static void pause() {}
  static void yield() { now += 4'000'000; }
  static std::int64_t now_ns() { return now; }
  static void futex_wait(Line&, std::uint32_t, std::uint32_t) {}
  static void futex_wake_all(Line&) {}
};

TEST(Waiter, WhereTheHostIsNeededABusyCoreIsNotGivenAway) {
  struct Host {
    FlagLine line{};
    std::atomic<int> needs{1};
    int calls = 0;
    static void drive(void* self) {
      auto* host = static_cast<Host*>(self);
      BusyCore::now += 100;
      if (++host->calls == 1'000'000) host->line.step.store(1, std::memory_order_release);
    }
  } host;
  BusyCore::now = 0;
  BasicWaiter<BusyCore> waiter(wait_policy(WaitMode::spin, 1),
                               {Host::drive, &host, {&host.needs, Host::drive, &host}});
  waiter.await(host.line, 1, 0);
  EXPECT_EQ(host.calls, 1'000'000);
  EXPECT_GE(waiter.counts().yield, 2u) << "the other process has its part";
  EXPECT_LE(waiter.counts().yield, 8u) << "100 ms of work, and 4 ms for each yield";
}

TEST(Waiter, ASleeperThatIsNeededMeanwhileSleepsNoMore) {
  FlagLine line{};
  std::atomic<int> needs{0}, drives{0};
  WaitCounts counts;
  std::thread waiting([&] {
    const ProgressHook hook{
        [](void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); }, &drives, {&needs}};
    Waiter waiter(wait_policy(WaitMode::sleep, 1), hook);
    waiter.await(line, 1, 0);
    counts = waiter.counts();
  });
  while (drives < 3) std::this_thread::sleep_for(1ms);
  needs = 1;
  while (drives < 100000) std::this_thread::sleep_for(1ms);
  Waiter(wait_policy(WaitMode::sleep, 1), {}).signal(line, 1);
  waiting.join();
  EXPECT_LT(counts.sleep, 10000u);
}

// A progress call may cost more than a yield, and with many ranks on a core each gets little of it in any
// time.
TEST(Waiter, PokesAreRareAmongYields) {
  struct Host {
    FlagLine line{};
    int drives = 0;
    static void make_progress(void* self) {
      auto* host = static_cast<Host*>(self);
      if (++host->drives == 10) host->line.step.store(1, std::memory_order_release);
    }
  } host;
  WaitPolicy policy;
  policy.yields = 1000;
  policy.yields_per_drive = 64;
  policy.long_yield_ns = 10'000'000'000;
  Waiter waiter(policy, {Host::make_progress, &host});
  waiter.await(host.line, 1, 0);
  EXPECT_EQ(host.drives, 10);
  EXPECT_EQ(waiter.counts().yield, 10u * 64u);
  EXPECT_EQ(waiter.counts().sleep, 0u);
  EXPECT_GT(wait_policy(WaitMode::automatic, 8.0).yields_per_drive, 0);
}

// Hosts that yield or sleep in vain progress calls seem to work each time.
TEST(Waiter, AStepThatComesDuringPokesIsSeenBeforeTheNext) {
  struct Host {
    FlagLine line{};
    int drives = 0;
    static void make_progress(void* self) {
      auto* host = static_cast<Host*>(self);
      ++host->drives;  // the first is quick
      if (host->drives > 1) std::this_thread::sleep_for(5ms);
      if (host->drives == 3) host->line.step.store(1, std::memory_order_release);
    }
  } host;
  Waiter waiter(wait_policy(WaitMode::sleep, 1), {Host::make_progress, &host});
  waiter.await(host.line, 1, 0);
  EXPECT_EQ(host.drives, 3);
}

TEST(Waiter, HostIsDrivenAlsoAsleep) {
  FlagLine line{};
  Pokes drives;
  WaitCounts counts;
  std::thread waiting([&] {
    Waiter waiter(wait_policy(WaitMode::automatic, 4), drives.hook());
    waiter.await(line, 1, 0);
    counts = waiter.counts();
  });
  while (drives.count < 600) std::this_thread::sleep_for(1ms);
  Waiter(wait_policy(WaitMode::automatic, 4), {}).signal(line, 1);
  waiting.join();
  EXPECT_GT(counts.yield, 0u);
  EXPECT_GT(counts.sleep, 10u);
  EXPECT_GT(counts.progress, counts.sleep) << "not only asleep, also between yields";
  EXPECT_EQ(counts.progress, static_cast<std::uint64_t>(drives.count));
}

TEST(Waiter, WritesBeforeTheSignalAreVisibleAfterTheWait) {
  FlagLine line{};
  constexpr Step rounds = 2000;
  std::array<std::uint64_t, 64> data{};
  FlagLine back{};
  std::thread writer([&] {
    Waiter waiter(wait_policy(WaitMode::automatic, 4), {});
    for (Step s = 1; s <= rounds; ++s) {
      data.fill(s);
      waiter.signal(line, s);
      waiter.await(back, s, 1);
    }
  });
  Waiter waiter(wait_policy(WaitMode::automatic, 4), {});
  for (Step s = 1; s <= rounds; ++s) {
    waiter.await(line, s, 0);
    for (const std::uint64_t value : data) ASSERT_EQ(value, s);
    waiter.signal(back, s);
  }
  writer.join();
}

/// Who was said to be mistaken.
struct Mistakes {
  std::vector<int> peers;
  Mistake mistake() {
    return {[](void* self, int peer) { static_cast<Mistakes*>(self)->peers.push_back(peer); }, this};
  }
};

Fingerprint call_of(int number, std::uint64_t bytes) {
  CallHistory history;
  for (int i = 0; i < number; ++i) history.add({Collective::allreduce, 0, bytes});
  return history.fingerprint();
}

/// A rank that waits for another's line, in the third call of 8 bytes.
struct WaitingForAnother {
  WaitingForAnother() {
    mine.on_mistake(mistakes.mistake());
    mine.begin_call(call_of(3, 8));
  }
  void theirs_says(Fingerprint call, Step step) {
    theirs.begin_call(call);
    theirs.signal(line, step);
  }

  FlagLine line{};
  Mistakes mistakes;
  Waiter mine{wait_policy(WaitMode::automatic, 1), {}}, theirs{wait_policy(WaitMode::automatic, 1), {}};
};

// Invariant 6.
TEST(Waiter, ALineOfAnotherCallIsReported) {
  WaitingForAnother rank;
  rank.theirs_says(call_of(3, 8), 1);
  rank.mine.await(rank.line, 1, 7);
  EXPECT_TRUE(rank.mistakes.peers.empty());
  rank.theirs_says(call_of(3, 16), 2);
  rank.mine.await(rank.line, 2, 7);
  EXPECT_EQ(rank.mistakes.peers, std::vector<int>{7});
}

TEST(Waiter, ALineThatIsAheadIsNoMistake) {
  WaitingForAnother rank;
  rank.theirs_says(call_of(4, 16), 9);
  rank.mine.await(rank.line, 5, 0);
  EXPECT_TRUE(rank.mistakes.peers.empty());
}

TEST(Waiter, WhereNobodySaysWhatIsCalledNobodyIsMistaken) {
  FlagLine line{};
  Waiter waiter(wait_policy(WaitMode::automatic, 1), {});
  waiter.begin_call(call_of(3, 8));
  line.fingerprint.store(call_of(3, 16));
  line.step.store(1);
  waiter.await(line, 1, 0);
}

}  // namespace
}  // namespace espalier::machine
