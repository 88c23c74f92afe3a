#include "machine/host_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace espalier::machine {
namespace {

using namespace std::chrono_literals;

/// The machines of all ranks over one piece of memory.
class HostMachines : public ::testing::Test {
 protected:
  static constexpr int ranks = 3;
  static constexpr int slots = 4;
  static constexpr std::size_t slot_bytes = 32 * 1024;

  void SetUp() override { make({ranks, slots, slot_bytes}); }
  void make(const Layout& layout) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, layout.bytes())));
    std::memset(memory_.get(), 0, layout.bytes());
    for (int r = 0; r < layout.ranks; ++r)
      machines_.push_back(std::make_unique<HostMachine>(memory_.get(), layout, r,
                                                        wait_policy(WaitMode::sleep, 1), ProgressHook{}));
  }
  HostMachine& at(int rank) { return *machines_[static_cast<std::size_t>(rank)]; }

  /// Rank 0 writes this step for all others.
  Steps write_slot(const Steps& steps) {
    const Steps own = at(0).reserve(steps);
    at(0).set_readers(own, at(0).other_ranks());
    return own;
  }

  /// True when `body` is still waiting after some milliseconds; then `unblock` must set it free.
  template <class Body, class Unblock>
  bool waits(Body body, Unblock unblock) {
    std::atomic<bool> done{false};
    std::thread thread([&] {
      body();
      done = true;
    });
    std::this_thread::sleep_for(15ms);
    const bool waited = !done;
    unblock();
    thread.join();
    return waited;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::vector<std::unique_ptr<HostMachine>> machines_;
};

TEST_F(HostMachines, StepsRiseAndSpansLieSideBySide) {
  HostMachine& m = at(0);
  Step last = 0;
  for (int round = 0; round < 300; ++round) {
    const int span = 1 << (round * 7 % 3);
    const Steps steps = m.advance(span);
    EXPECT_GT(steps.first, last);
    EXPECT_EQ(steps.first % static_cast<Step>(span), 0u);
    for (int i = 0; i < span; ++i)
      EXPECT_EQ(m.slot(1, Steps{.first = steps.first + static_cast<Step>(i)}),
                m.slot(1, steps) + static_cast<std::size_t>(i) * slot_bytes);
    last = steps.last();
  }
}

TEST_F(HostMachines, ShortChunksComeBackToTheSamePlaceLater) {
  const std::size_t bytes = slot_bytes / 4;
  const Steps first = at(0).advance(1, bytes);
  std::set<const std::byte*> places = {at(0).slot(2, first)};
  for (int i = 1; i < 4 * slots; ++i) places.insert(at(0).slot(2, at(0).advance(1, bytes)));
  EXPECT_EQ(places.size(), static_cast<std::size_t>(4 * slots));
  const Steps again = at(0).advance(1, bytes);
  EXPECT_TRUE(places.contains(at(0).slot(2, again)));
  for (int i = 0; i < 4 * slots; ++i) at(1).advance(1, bytes);
  const Steps theirs = at(1).advance(1, bytes);
  const auto from_ring = [&](int rank, const Steps& steps) {
    return at(rank).slot(2, steps) - at(rank).slot(2, Steps{});
  };
  EXPECT_EQ(from_ring(1, theirs), from_ring(0, again));  // all ranks alike
}

// Whatever a rank asks for afterwards.
TEST_F(HostMachines, StepsKeepTheirMeaning) {
  HostMachine& m = at(0);
  const Steps shorter = m.advance(1, slot_bytes / 4), whole = m.advance(2);
  const std::byte* places[] = {m.slot(1, shorter), m.slot(1, whole)};
  m.advance(1, slot_bytes / 2);
  m.with_short_ring(m.advance(1), slot_bytes);
  m.advance_open(4, slot_bytes);
  EXPECT_EQ(m.slot(1, shorter), places[0]);
  EXPECT_EQ(m.slot(1, whole), places[1]);
}

// So a rank can be as many calls ahead of its readers as there are slots, whatever these calls' spans.
TEST_F(HostMachines, ShortOpenCallsComeByAllSlotsInTurn) {
  for (int span = 1; span <= slots; span *= 2) {
    std::set<const std::byte*> places;
    for (int i = 0; i < slots / span; ++i) places.insert(at(0).slot(2, at(0).advance_open(span, 1).begin));
    EXPECT_EQ(places.size(), static_cast<std::size_t>(slots / span)) << "span " << span;
  }
}

TEST_F(HostMachines, SameCallsGiveTheSameStepsOnAllRanks) {
  for (const int span : {1, 4, 1, 1, 2, 4, 2, 1}) {
    const Step step = at(0).advance(span).first;
    for (int r = 1; r < ranks; ++r) EXPECT_EQ(at(r).advance(span).first, step);
  }
}

TEST_F(HostMachines, EverybodyElseIsEverybodyElse) {
  const auto others = at(1).other_ranks();
  EXPECT_EQ(std::vector<int>(others.begin(), others.end()), (std::vector<int>{0, 2}));
}

TEST_F(HostMachines, ReserveWaitsForTheReaders) {
  HostMachine& m = at(0);
  const Steps steps = m.advance(1);
  m.reserve(steps);
  const std::vector<int> readers = {2};
  m.set_readers(steps, readers);
  for (int i = 1; i < slots; ++i) m.reserve(m.advance(1));  // other slots: no rank to wait for
  const Steps again = m.advance(1);
  ASSERT_EQ(m.slot(0, again), m.slot(0, steps));
  EXPECT_TRUE(waits([&] { m.reserve(again); }, [&] { at(2).finish(steps.last()); }));
  m.reserve(again);  // and once only
}

TEST_F(HostMachines, ReserveAfterASpanWaitsInEachOfItsSlots) {
  HostMachine& m = at(0);
  const Steps whole = m.advance(slots);
  m.set_readers(whole, m.other_ranks());
  at(2).finish(whole.last());
  // Rank 1 has finished steps before, but not this one.
  at(1).finish(whole.first - 1);
  const Steps next = m.advance(1);
  ASSERT_EQ(m.slot(0, next), m.slot(0, whole));
  EXPECT_TRUE(waits([&] { m.reserve(next); }, [&] { at(1).finish(whole.last()); }));
}

TEST_F(HostMachines, ReserveOfASpanWaitsForASingleSlotWithin) {
  HostMachine& m = at(0);
  const Steps single = m.advance(1);
  m.set_readers(single, m.other_ranks());
  at(1).finish(single.last());
  const Steps span = m.advance(slots);
  EXPECT_TRUE(waits([&] { m.reserve(span); }, [&] { at(2).finish(single.last()); }));
}

TEST_F(HostMachines, ReserveAsksNobodyWhenEverybodyIsKnownToHaveFinished) {
  HostMachine& m = at(0);
  const Steps steps = m.advance(1);
  m.set_readers(steps, m.other_ranks());
  m.all_finished(steps.last());
  for (int i = 0; i < slots; ++i) m.reserve(m.advance(1));  // hangs if it asks
}

TEST_F(HostMachines, InlineDataArriveWithTheFlag) {
  char text[memory::inline_capacity];
  for (std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{8}, std::size_t{13}, sizeof text}) {
    const Step step = at(0).advance(1).last();
    std::memset(text, static_cast<int>(bytes) + 1, sizeof text);
    at(0).publish_inline(Channel::gather, step, text, bytes);
    at(1).await(Channel::gather, 0, step);
    EXPECT_EQ(std::memcmp(at(1).inline_data(Channel::gather, 0, step), text, bytes), 0) << bytes;
    at(0).publish_for(2, Channel::release, step, text, bytes);
    at(2).await(Channel::release, 2, step);
    EXPECT_EQ(std::memcmp(at(2).inline_data(Channel::release, 2, step), text, bytes), 0) << bytes;
  }
}

TEST_F(HostMachines, ExactlyOneIsLastAtEveryStep) {
  std::atomic<int> lasts{0};
  std::vector<std::thread> threads;
  constexpr int rounds = 500;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      for (int i = 0; i < rounds; ++i) {
        const Step step = at(r).advance(1).last();
        const auto word = static_cast<std::uint64_t>(i);
        if (at(r).arrive_last(step)) {
          lasts.fetch_add(1);
          at(r).release_all(step, &word, sizeof word);
        } else {
          std::uint64_t got = 0;
          std::memcpy(&got, at(r).await_release_all(step), sizeof got);
          EXPECT_EQ(got, word);
        }
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(lasts, rounds);
}

// Invariant 6: the rank that comes last sees by the sum that not all came to the same call; and a sum that is
// right for a while is right however often the counter goes around.
TEST_F(HostMachines, TheLastToArriveKnowsOfAnotherCall) {
  int mistaken = 0;
  const Mistake count{[](void* counted, int) { ++*static_cast<int*>(counted); }, &mistaken};
  CallHistory right, wrong;
  for (int r = 0; r < ranks; ++r) at(r).on_mistake(count);
  const auto all_arrive = [&](Fingerprint of_the_second) {
    int lasts = 0;
    for (int r = 0; r < ranks; ++r) {
      at(r).begin_call(r == 1 ? of_the_second : right.fingerprint());
      lasts += at(r).arrive_last(at(r).advance(1).last());
    }
    return lasts;
  };
  for (std::uint64_t i = 0; i < 1000; ++i) {
    right.add({Collective::allreduce, 0, i * 8});
    EXPECT_EQ(all_arrive(right.fingerprint()), 1);
  }
  EXPECT_EQ(mistaken, 0);
  wrong = right;
  right.add({Collective::allreduce, 0, 8});
  wrong.add({Collective::allreduce, 0, 16});
  EXPECT_EQ(all_arrive(wrong.fingerprint()), 1);
  EXPECT_EQ(mistaken, 1);
}

/// Two ranks, for pairwise slots.
class PairwiseMachines : public HostMachines {
 protected:
  void SetUp() override { make({2, many, slot_bytes}); }
  static constexpr int many = 16;  // more than there are pairwise slots
  /// One round of both.
  Steps exchange_once(int span = 1) {
    Steps round;
    for (int rank = 0; rank < 2; ++rank) round = at(rank).with_pairwise_slots(at(rank).advance(span));
    return round;
  }
};

TEST_F(PairwiseMachines, ARankWritesWhereTheOtherDidTwoRoundsBefore) {
  std::vector<std::array<std::byte*, 2>> places;
  for (int round = 0; round < 9; ++round) {
    const Steps steps = exchange_once(1 << round % 2);
    places.push_back({at(0).slot(0, steps), at(0).slot(1, steps)});
    EXPECT_EQ(at(1).slot(0, steps), places.back()[0]);  // both know where
    EXPECT_EQ(at(1).slot(1, steps), places.back()[1]);
    if (round == 3) at(0).advance(1), at(1).advance(1);  // other calls in between change nothing
  }
  for (std::size_t i = 2; i < places.size(); ++i) {
    EXPECT_EQ(places[i][0], places[i - 2][1]);
    EXPECT_EQ(places[i][1], places[i - 2][0]);
  }
  for (std::size_t i = 1; i < places.size(); ++i)
    for (const std::byte* place : places[i]) {
      EXPECT_NE(place, places[i - 1][0]);
      EXPECT_NE(place, places[i - 1][1]);
    }
}

TEST_F(PairwiseMachines, TheRoundBeforeIsStillThereWhenTheNextIsShown) {
  for (const int span : {1, 2, 4}) {
    const Steps before = exchange_once(span);
    const std::byte* place = at(0).slot(1, before);
    exchange_once(span);
    EXPECT_EQ(at(0).slot(1, before), place) << "span " << span;
  }
}

TEST_F(PairwiseMachines, OpenRoundsGoOnWhereBothExpectIt) {
  Steps open;
  for (int rank = 0; rank < 2; ++rank)
    open = at(rank).with_pairwise_slots(at(rank).advance_open(2, 64 * 1024).begin, 3);
  std::vector<std::byte*> mine, theirs;
  for (std::size_t round = 0; round < 3; ++round) {
    mine.push_back(at(0).slot(0, open.after(round)));
    theirs.push_back(at(0).slot(1, open.after(round)));
  }
  EXPECT_EQ(mine[2], theirs[0]);
  EXPECT_EQ(at(0).slot(0, exchange_once()), theirs[1]);
}

TEST_F(PairwiseMachines, AdvanceLeavesThePairwiseSlots) {
  const std::byte* pairwise = at(0).slot(0, exchange_once());
  const Steps steps = at(0).advance(1);
  EXPECT_LT(at(0).slot(0, steps), pairwise);  // the rings lie before
}

/// Two ranks whose rings have a short one in them.
class MachinesWithShortRings : public HostMachines {
 protected:
  static constexpr int long_ring = 32;
  static constexpr std::size_t message = 20000;

  void SetUp() override { make({2, long_ring, slot_bytes}); }
  Steps advance_both(std::size_t bytes = message) {
    Steps steps;
    for (const int rank : {0, 1}) steps = at(rank).with_short_ring(at(rank).advance(1, bytes), bytes);
    return steps;
  }
  /// Rank 0 writes a message for rank 1, all of `value`; returns where.
  std::byte* write(const Steps& steps, std::byte value) {
    HostMachine& m = at(0);
    const Steps own = m.reserve(steps);
    std::byte* slot = m.slot(0, own);
    m.write_slot(own, slot, std::vector(message, value).data(), message);
    m.flush_for_readers(slot, message);
    m.publish(Channel::gather, own);
    m.set_readers(own, m.other_ranks());
    m.finish(own.last());
    return slot;
  }
};

TEST_F(MachinesWithShortRings, TheReaderFindsWhatTheWriterPutsIntoEitherRing) {
  int elsewhere = 0;
  for (int i = 0; i < 300; ++i) {
    const auto value = static_cast<std::byte>(i);
    const Steps steps = advance_both();
    const std::byte* written = write(steps, value);
    const std::byte* found = at(1).slot(0, at(1).await(Channel::gather, 0, steps));
    ASSERT_EQ(found, written) << i;
    ASSERT_TRUE(std::all_of(found, found + message, [&](std::byte b) { return b == value; })) << i;
    at(1).finish(steps.last());
    elsewhere += written != at(0).slot(0, steps);
    at(0).advance(1), at(1).advance(1);
  }
  EXPECT_GT(elsewhere, 0);  // the writer begins with the short one
}

TEST_F(MachinesWithShortRings, AreOfferedToMessagesOfHalfASlotToTwo) {
  for (const std::size_t bytes : {slot_bytes / 2, 2 * slot_bytes + 1})
    for (int i = 0; i < 300; ++i) {
      const Steps steps = advance_both(bytes);
      const std::byte* slot = at(0).slot(0, at(0).reserve(steps));
      EXPECT_EQ((slot - at(0).slot(0, Steps{})) / static_cast<std::ptrdiff_t>(slot_bytes),
                static_cast<std::ptrdiff_t>(steps.first % long_ring));
    }
}

/// Three ranks that trade cells, one round at a time.
class TradingCells : public HostMachines {
 protected:
  void SetUp() override {
    Layout layout{3, 8, slot_bytes};
    layout.many_pairwise = true;
    make(layout);
  }
  Steps exchange_once() {
    Steps round;
    for (int rank = 0; rank < 3; ++rank) round = at(rank).with_pairwise_cells(at(rank).advance(1));
    return round;
  }
};

TEST_F(TradingCells, ARankWritesForAnotherWhereItHasReadBefore) {
  const Steps first = exchange_once();
  std::set<std::byte*> all;
  std::array<std::array<std::byte*, 3>, 3> before{};
  for (int writer = 0; writer < 3; ++writer)
    for (int reader = 0; reader < 3; ++reader) {
      if (writer == reader) continue;
      std::byte* place = before[std::size_t(writer)][std::size_t(reader)] =
          at(writer).pairwise_cell(writer, reader, first);
      EXPECT_EQ(at(reader).pairwise_cell(writer, reader, first), place);  // both know where
      EXPECT_TRUE(all.insert(place).second);
    }
  const Steps next = exchange_once();
  for (int writer = 0; writer < 3; ++writer)
    for (int reader = 0; reader < 3; ++reader) {
      if (writer == reader) continue;
      EXPECT_EQ(at(writer).pairwise_cell(writer, reader, next),
                before[std::size_t(reader)][std::size_t(writer)]);
    }
}

TEST_F(TradingCells, LieBesideTheSlots) {
  const Steps first = exchange_once();
  for (std::byte* cell : {at(0).pairwise_cell(0, 1, first), at(0).pairwise_cell(1, 0, first)})
    EXPECT_GT(cell, at(0).slot(2, first) + slot_bytes);
}

TEST_F(TradingCells, ReserveWaitsForTheReadersOfWhatThisRankWroteThere) {
  HostMachine& m = at(0);
  const Steps first = write_slot(exchange_once());
  write_slot(exchange_once());  // the other cells
  const Steps again = exchange_once();
  EXPECT_TRUE(
      waits([&] { m.reserve(again); }, [&] { at(1).finish(first.last()), at(2).finish(first.last()); }));
}

// The other need not write every time, and has then not told in between that it has read.
TEST_F(PairwiseMachines, ReserveWaitsForTheReaderOfWhatThisRankWroteThere) {
  HostMachine& m = at(0);
  const Steps first = write_slot(exchange_once());
  for (int i = 1; i < 4; ++i) write_slot(exchange_once());  // other slots: no rank to wait for
  const Steps again = exchange_once();
  ASSERT_EQ(m.slot(0, again), m.slot(0, first));
  EXPECT_TRUE(waits([&] { m.reserve(again); }, [&] { at(1).finish(first.last()); }));
}

}  // namespace
}  // namespace espalier::machine
