#include "runtime/flight/recorder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace espalier::runtime::flight {
namespace {

/// Memory that others could see, joined while the test lasts.
class Flight : public ::testing::Test {
 protected:
  Flight() : memory_(static_cast<std::byte*>(std::aligned_alloc(4096, record_bytes)), &std::free) {
    std::memset(memory_.get(), 0, record_bytes);
    join(memory_.get(),
         {.job = 7, .node = 8, .started = 9, .rank = 1, .ranks = 4, .node_rank = 1, .node_ranks = 2});
  }
  ~Flight() override { leave(); }
  Record& record() { return *reinterpret_cast<Record*>(memory_.get()); }
  Ring& ring() {
    for (Ring& each : record().rings)
      if (each.state.load() > 0) return each;
    return record().rings[0];
  }
  static const Entry& entry_of(const Ring& ring, std::uint64_t number) {
    return ring.entries[number % Ring::kept];
  }
  std::uint64_t calls() { return ring().state.load() / 2; }
  bool is_inside() { return ring().state.load() % 2 == 1; }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

TEST_F(Flight, TheHeaderSaysWhoItIs) {
  const Header& header = record().header;
  EXPECT_STREQ(header.magic.data(), "espalier flight");
  EXPECT_EQ(header.job, 7u);
  EXPECT_EQ(header.rank, 1);
  EXPECT_EQ(header.ranks, 4);
  EXPECT_EQ(header.process, getpid());
  EXPECT_GT(header.first.nanoseconds.load(), 0u);
  EXPECT_EQ(header.has_left.load(), 0u);
  name_host("MPI of a test", "mpich");
  EXPECT_STREQ(header.host.data(), "MPI of a test");
  EXPECT_STREQ(header.build.data(), "mpich");
}

TEST_F(Flight, ACallIsSeenWhileItLastsAndAfter) {
  const std::uint64_t before = calls();
  {
    const InCall call(Collective::bcast, 0x44, 3, &before);
    note_call(5, 64);
    ASSERT_TRUE(is_inside());
    EXPECT_EQ(calls(), before + 1);
    const Entry& entry = entry_of(ring(), before + 1);
    EXPECT_EQ(entry.collective.load(), static_cast<std::uint32_t>(Collective::bcast));
    EXPECT_EQ(entry.site.load(), reinterpret_cast<std::uintptr_t>(&before));
    EXPECT_EQ(entry.communicator.load(), 0x44u);
    EXPECT_EQ(entry.root.load(), 3);
    EXPECT_EQ(entry.call.load(), 5u);
    EXPECT_EQ(entry.bytes.load(), 64u);
    note_wait();
    EXPECT_EQ(entry.timed.load(), ring().state.load());
    EXPECT_EQ(entry.end.load(), 0u);
  }
  EXPECT_FALSE(is_inside());
  const Entry& entry = entry_of(ring(), before + 1);
  EXPECT_GE(entry.end.load(), entry.begin.load());
  EXPECT_EQ(entry.bytes.load(), 64u);
}

TEST_F(Flight, WhatIsNoCallOfTheProgramsLeavesTheLastOneAlone) {
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    note_call(2, 0);
  }
  const std::uint64_t number = calls();
  note_host_call(99, 99);
  note_wait();
  EXPECT_EQ(entry_of(ring(), number).call.load(), 2u);
}

TEST_F(Flight, TheLast64AreKept) {
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const InCall call(Collective::allreduce, 1, 0, nullptr);
    note_call(i, i);
  }
  const std::uint64_t last = calls();
  for (std::uint64_t back = 0; back < Ring::kept; ++back) {
    const Entry& entry = entry_of(ring(), last - back);
    EXPECT_EQ(entry.call.load(), 200 - back);
  }
}

TEST_F(Flight, AnExceptionEndsACall) {
  try {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(is_inside());
}

struct Heard {
  int times = 0;
  std::uint64_t communicator = 0, ticks = 0;
};
Heard heard;
void hear(std::uint64_t communicator, std::uint64_t ticks) noexcept {
  heard = {heard.times + 1, communicator, ticks};
}

TEST_F(Flight, ACallThatIsAskedToSaysHowLongItTook) {
  heard = {};
  for (int i = 0; i < 100; ++i) {
    const InCall call(Collective::barrier, 0x45, 0, nullptr);
    if (i == 50) time_call(hear);
    EXPECT_EQ(heard.times, i > 50);
  }
  EXPECT_EQ(heard.times, 1);
  EXPECT_EQ(heard.communicator, 0x45u);
  EXPECT_GT(heard.ticks, 0u);
}

TEST_F(Flight, ACallThatAnExceptionEndsSaysSo) {
  heard = {};
  try {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    time_call(hear);
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(heard.times, 1);
}

TEST_F(Flight, ACallWithAnotherOneInItSaysNothing) {
  heard = {};
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    time_call(hear);
    for (std::uint64_t i = 0; i < 3 * Ring::kept; ++i) const InCall another(Collective::bcast, 2, 0, nullptr);
  }
  for (int i = 0; i < 100; ++i) const InCall call(Collective::barrier, 1, 0, nullptr);
  EXPECT_EQ(heard.times, 0);
}

TEST_F(Flight, CallsFarApartAllHaveTimes) {
  for (int i = 0; i < 40; ++i) {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_EQ(entry_of(ring(), calls()).timed.load(), 2 * calls() + 1);
}

int times_told = 0;

TEST_F(Flight, EachCallHasTimesWhereThatIsAskedForUntilSoManyHaveBeenMade) {
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
  }
  const std::uint64_t last = calls() + 100;
  times_told = 0;
  time_all(last, +[]() noexcept { ++times_told; });
  for (std::uint64_t number = calls() + 1; number <= last + 100; ++number) {
    {
      const InCall call(Collective::barrier, 1, 0, nullptr);
      note_call(number, 0);
    }
    EXPECT_EQ(times_told, number > last ? 1 : 0) << number;
    if (number <= last) {
      EXPECT_EQ(entry_of(ring(), number).timed.load(), 2 * number + 1) << number;
    }
  }
}

TEST_F(Flight, ThreadsHaveRingsOfTheirOwnAndGiveThemBack) {
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
  }
  for (int round = 0; round < 5; ++round) {
    std::thread([&] {
      const InCall call(Collective::reduce, 2, 0, nullptr);
      int inside = 0;
      for (const Ring& each : record().rings) inside += each.state.load() % 2;
      EXPECT_EQ(inside, 1);
      EXPECT_EQ(record().rings[Record::rings_of_threads - 1].state.load(), 0u);
    }).join();
  }
}

TEST_F(Flight, CommunicatorsComeAndGo) {
  add_communicator({.handle = 5,
                    .high = 1,
                    .low = 2,
                    .size = 4,
                    .rank = 1,
                    .first = 0,
                    .stride = 1,
                    .name = "a name that is too long for it"});
  const CommunicatorLine& line = record().communicators[0];
  EXPECT_EQ(line.handle.load(), 5u);
  EXPECT_EQ(line.size, 4);
  EXPECT_EQ(std::string(line.name.data()), std::string("a name that is too long for it").substr(0, 23));
  add_communicator({5, 1, 3, 2, 0, 0, 0, "again"});
  EXPECT_STREQ(line.name.data(), "again");
  for (std::uint64_t handle = 10; handle < 10 + Record::most_communicators; ++handle) {
    Named other;
    other.handle = handle;
    add_communicator(other);
  }
  forget_communicator(5);
  EXPECT_EQ(line.handle.load(), 0u);
}

TEST_F(Flight, ManyThreadsAtOnceShareTheLastRing) {
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
  }
  std::barrier together(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const InCall call(Collective::barrier, 1, 0, nullptr);
      together.arrive_and_wait();
    });
  for (std::thread& each : threads) each.join();
  EXPECT_GT(record().rings[Record::rings_of_threads - 1].state.load(), 0u);
  EXPECT_FALSE(is_inside());
  const std::uint64_t before = calls();
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
  }
  EXPECT_EQ(calls(), before + 1);
}

TEST(FlightWithoutMemory, CallsGoOnBeforeAndAfter) {
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    note_call(1, 1);
  }
  join(nullptr, {.job = 1});
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    note_call(2, 1);
  }
  {
    const InRequests requests(&record_bytes);
  }
  leave();
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    note_call(3, 1);
  }
  SUCCEED();
}

TEST_F(Flight, ACallUnderWayEndsWhereItHasBegun) {
  leave();
  {
    const InCall call(Collective::scan, 9, 0, nullptr);
    join(reinterpret_cast<std::byte*>(&record()), {});
    EXPECT_FALSE(is_inside());
  }
  EXPECT_FALSE(is_inside());
  EXPECT_EQ(entry_of(ring(), calls()).communicator.load(), 9u);
}

TEST_F(Flight, ACallThatAnErrorHandlerHasLeftIsPassedOver) {
  const std::uint64_t before = calls();
  alignas(InCall) std::byte place[sizeof(InCall)];
  new (place) InCall(Collective::bcast, 1, 0, nullptr);  // its destructor is jumped over
  {
    const InCall call(Collective::barrier, 1, 0, nullptr);
    EXPECT_EQ(calls(), before + 2);
    EXPECT_TRUE(is_inside());
  }
  EXPECT_FALSE(is_inside());
}

}  // namespace
}  // namespace espalier::runtime::flight
