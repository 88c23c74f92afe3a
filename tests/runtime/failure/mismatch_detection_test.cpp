// Invariant 6: ranks that are gone, or call something else, are named, and no rank hangs.
#include "runtime/failure/mismatch_detection.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/process/process.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using testing::Board;
using testing::bootstrap_of;
using testing::Job;
using testing::run_ranks;

const reduce::Operation& sum_of_words() { return *reduce::find(reduce::Op::sum, reduce::Type::uint64); }

/// A rank's communicator, and buffers for its calls.
struct Rank {
  Rank(Board& board, int rank) : bootstrap(bootstrap_of(board, rank)) {
    Process::instance().join(bootstrap);
    communicator = Communicator::create(bootstrap);
  }
  ~Rank() {
    communicator.reset();
    Process::instance().leave();
  }

  void right_calls() {
    for (int i = 0; i < 30; ++i) {
      communicator->barrier();
      bcast(8, i % communicator->size());
      allreduce(1 + static_cast<std::size_t>(i) * 100);
    }
  }
  void bcast(std::size_t bytes, int root) { communicator->bcast(data.data(), bytes, root); }
  void allreduce(std::size_t count) {
    communicator->allreduce(data.data(), result.data(), count, sum_of_words());
  }

  Bootstrap bootstrap;
  std::unique_ptr<Communicator> communicator;
  std::vector<std::uint64_t> data = std::vector<std::uint64_t>(100000, 1), result = data;
};

/// What the call throws; empty: it returned.
std::string said(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// After right calls each rank makes its own; all of them have to throw, at least one with both `sides`, by
/// then or in the barrier behind; and the communicator stays out of use.
void expect_named(int ranks, const std::function<void(Rank&)>& call, const std::vector<std::string>& sides) {
  Board board(ranks);
  Board heard(ranks);
  run_ranks(ranks, [&](int r) {
    Rank rank(board, r);
    rank.right_calls();
    std::string mine = said([&] { call(rank); });
    if (mine.empty()) mine = said([&] { rank.communicator->barrier(); });
    EXPECT_NE(mine, "") << "rank " << r << " saw nothing";
    int both = 1;
    for (const std::string& side : sides) both &= has(mine, side);
    std::vector<int> all(static_cast<std::size_t>(ranks));
    heard.allgather(r, &both, all.data(), sizeof both);
    int named = 0;
    for (const int one : all) named += one;
    EXPECT_GT(named, 0) << mine;
    EXPECT_TRUE(has(said([&] { rank.bcast(8, 0); }), "out of step"));
  });
}

/// The roll calls of two ranks over one piece of memory.
struct Two {
  Two() {
    layout.ranks = 2;
    layout.slots = 8;
    memory.resize(layout.bytes() / 128);
    for (int rank = 0; rank < 2; ++rank)
      calls.push_back(std::make_unique<MismatchDetection>(reinterpret_cast<std::byte*>(memory.data()), layout,
                                                          rank, std::vector<int>(), false,
                                                          machine::ProgressHook{}));
  }
  void call(int rank, std::size_t bytes, int times = 1) {
    for (int i = 0; i < times; ++i)
      calls[static_cast<std::size_t>(rank)]->begin({Collective::bcast, 0, bytes});
  }
  /// What rank 0 says when a flag of rank 1 seems to be of another call.
  std::string doubt() {
    const machine::Mistake mistake = calls[0]->mistake();
    return said([&] { mistake.function(mistake.context, 1); });
  }

  machine::Layout layout;
  struct alignas(128) Line {
    std::byte bytes[128];
  };
  std::vector<Line> memory;
  std::vector<std::unique_ptr<MismatchDetection>> calls;
};

/// What goes to rank 0 in a gatherv, and what that expects of rank 1.
void gather_lengths(Rank& rank, std::size_t sent, std::size_t expected) {
  Communicator& all = *rank.communicator;
  std::vector<std::size_t> bytes(static_cast<std::size_t>(all.size()), 8), offsets(bytes.size());
  bytes[1] = expected;
  for (std::size_t r = 1; r < bytes.size(); ++r) offsets[r] = offsets[r - 1] + bytes[r - 1];
  all.gatherv(rank.data.data(), all.rank() == 1 ? sent : 8, rank.result.data(), {bytes, offsets}, 0);
}

TEST(MismatchDetection, MoreThanIsExpected) {
  for (const int ranks : {2, 3})
    for (const auto& [sent, expected] :
         {std::pair<std::size_t, std::size_t>{32, 16}, {5000, 4992}, {200000, 16}})
      expect_named(
          ranks, [=, sent = sent, expected = expected](Rank& rank) { gather_lengths(rank, sent, expected); },
          {"in this gatherv with root 0 rank 1 sends " + std::to_string(sent) +
           " bytes to rank 0, which expects " + std::to_string(expected)});
}

// Of two ranks the one that sends nothing takes no step; of three the root waits for a flag.
TEST(MismatchDetection, NothingWhereSomethingIsExpected) {
  expect_named(2, [](Rank& rank) { gather_lengths(rank, 0, 16); },
               {"a gatherv with root 0", "0 bytes", "16"});
  expect_named(3, [](Rank& rank) { gather_lengths(rank, 0, 16); },
               {"rank 0 waits in its gatherv with root 0 for data that no rank sends"});
}

// The class says which; the sender's record may have been overwritten, and then the mark says it.
TEST(MismatchDetection, LengthsOfCallsThatAreLongOver) {
  Two two;
  for (const int rank : {0, 1}) two.calls[static_cast<std::size_t>(rank)]->begin({Collective::gatherv, 0, 0});
  two.calls[1]->note_block(3'000'000);
  const machine::Mistake mistake = two.calls[0]->mistake();
  const auto length = [&](std::size_t sent, std::size_t expected) {
    return mistake.length(mistake.context, 1, expected, machine::length_mark(sent));
  };
  EXPECT_EQ(length(3'000'000, 4'000'000), 3'000'000u);
  two.call(1, 8, 40);
  EXPECT_EQ(length(1000, 2000), 1000u);
  EXPECT_THROW(length(2000, 1000), Truncated);
}

// The sender may find it first. The receiver, which hears of it in a wait, is the one that is truncated.
TEST(MismatchDetection, ATruncationThatTheSenderFindsIsTheReceiversError) {
  Two two;
  for (const int rank : {0, 1})
    two.calls[static_cast<std::size_t>(rank)]->begin({Collective::alltoallv, 0, 0});
  EXPECT_THROW(two.calls[1]->fail_by_length(0, 32, 16, true), Truncated);
  const machine::ProgressHook hook = two.calls[0]->hook();
  EXPECT_THROW(hook.function(hook.context), Truncated);
  EXPECT_THROW(hook.function(hook.context), AlreadyTold);
}

TEST(MismatchDetection, ATruncationOfAnotherRankIsNotThisOnes) {
  Two two;
  for (const int rank : {0, 1})
    two.calls[static_cast<std::size_t>(rank)]->begin({Collective::alltoallv, 0, 0});
  EXPECT_THROW(two.calls[1]->fail_by_length(0, 32, 16), Truncated);
  const machine::ProgressHook hook = two.calls[0]->hook();
  EXPECT_THROW(hook.function(hook.context), AlreadyTold);
}

/// Rank 0 waits in its next call, and looks so often.
std::string waits(Two& two, int looks) {
  two.call(0, 8);
  const machine::ProgressHook hook = two.calls[0]->hook();
  const auto ends = std::chrono::steady_clock::now() +
                    std::chrono::nanoseconds(looks * MismatchDetection::look_interval_ns) +
                    std::chrono::milliseconds(100);
  return said([&] {
    while (std::chrono::steady_clock::now() < ends) {
      hook.function(hook.context);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
}

TEST(MismatchDetection, ANonblockingCallBeforeAndAfterABlockingOne) {
  Two two;
  for (const int rank : {0, 1}) two.call(rank, 8, 3);
  two.calls[1]->add_nonblocking(Collective::alltoall);
  EXPECT_TRUE(has(waits(two, 2),
                  "rank 1 has begun a nonblocking alltoall before the bcast of 8 bytes with root 0 in which "
                  "rank 0 waits"));
}

TEST(MismatchDetection, ALateRankThatHasBegunTheSameNonblockingCalls) {
  Two two;
  for (const int rank : {0, 1}) {
    two.call(rank, 8, 3);
    two.calls[static_cast<std::size_t>(rank)]->add_nonblocking(Collective::alltoall);
  }
  EXPECT_EQ(waits(two, 2), "");
}

TEST(MismatchDetection, ARankThatHasComeMayGoOnToNonblockingCalls) {
  Two two;
  two.call(1, 8);
  two.calls[1]->add_nonblocking(Collective::alltoall);
  EXPECT_EQ(waits(two, 2), "");
}

// A rank that has nothing to give or take may be as far ahead: then its flags only seem to be of another
// call.
TEST(MismatchDetection, ARankThatIsFarAheadIsNotMistaken) {
  Two two;
  two.call(0, 8, 10);
  two.call(1, 8, 10 + 4096);
  EXPECT_EQ(two.doubt(), "");
}

TEST(MismatchDetection, TheRecordsNameWhatDiffers) {
  Two two;
  for (const int rank : {0, 1}) two.call(rank, 8, 10);
  two.call(0, 16);
  two.call(1, 24);
  EXPECT_TRUE(
      has(two.doubt(), "in this call rank 0 wanted bcast of 16 bytes with root 0, rank 1 bcast of 24 bytes"));
}

TEST(MismatchDetection, WhatDiffersMayBeALongWayBack) {
  Two two;
  two.call(0, 16);
  two.call(1, 24);
  for (const int rank : {0, 1}) two.call(rank, 8, 5);
  EXPECT_TRUE(has(two.doubt(), "5 calls ago rank 0 wanted bcast of 16 bytes"));
  Two others;
  others.call(0, 16);
  others.call(1, 24);
  for (const int rank : {0, 1}) others.call(rank, 8, 50);
  EXPECT_TRUE(has(others.doubt(), "more than 16 calls ago")) << "what it was is not kept any more";
}

// What is named was read once: the other rank may write over it meanwhile.
TEST(MismatchDetection, TheOtherRankMayGoOnWhileItIsNamed) {
  for (int round = 0; round < 500; ++round) {
    Two two;
    two.call(0, 16);
    two.call(1, 24);
    two.call(0, 8, 14);
    std::atomic<bool> ready{false}, go{false};
    std::thread other([&] {
      ready = true;
      while (!go) continue;
      two.call(1, 8, 60);
    });
    while (!ready) std::this_thread::yield();
    go = true;
    const std::string text = two.doubt();
    other.join();
    EXPECT_TRUE(text.empty() || has(text, "rank 1 bcast of 24 bytes") || has(text, "more than 16 calls ago"))
        << text;
  }
}

/// What rank 0 hears in a wait, once rank 1 has left its own call by an exception.
std::string heard_when_rank_1_leaves(Two& two) {
  try {
    throw std::runtime_error("the program's");
  } catch (...) {
    two.calls[1]->abandon();
  }
  const machine::ProgressHook hook = two.calls[0]->hook();
  return said([&] { hook.function(hook.context); });
}

TEST(MismatchDetection, ARankThatLeavesACallByAnExceptionIsNamed) {
  Two two;
  for (const int rank : {0, 1}) two.call(rank, 8, 3);
  EXPECT_TRUE(has(heard_when_rank_1_leaves(two), "rank 1 left its bcast of 8 bytes"));
}

// It has done its part of that call, so rank 0 gets what it waits for.
TEST(MismatchDetection, ARankThatIsStillInTheCallBeforeGoesOn) {
  Two two;
  for (const int rank : {0, 1}) two.call(rank, 8, 3);
  two.call(1, 8);
  EXPECT_EQ(heard_when_rank_1_leaves(two), "");
  two.call(0, 8);
  const machine::ProgressHook hook = two.calls[0]->hook();
  EXPECT_TRUE(has(said([&] { hook.function(hook.context); }), "rank 1 left its bcast of 8 bytes"));
}

/// Rank 0 waits in a call to which rank 1, whose process is gone, has not come; `own`: what stands of its
/// own.
std::string said_of_a_dead_rank(const ProcessMark& own) {
  machine::Layout layout;
  layout.ranks = 2;
  layout.slots = 8;
  std::vector<Two::Line> memory(layout.bytes() / 128);
  auto* share = reinterpret_cast<std::byte*>(memory.data());
  const ProcessMark gone = {own_mark().process, own_mark().started + 1};
  std::memcpy(share + layout.process(0), &own, sizeof own);
  std::memcpy(share + layout.process(1), &gone, sizeof gone);
  MismatchDetection mismatch_detection(share, layout, 0, {}, true, machine::ProgressHook{});
  mismatch_detection.begin({Collective::barrier, 0, 0});
  return said([&] {
    const machine::ProgressHook hook = mismatch_detection.hook();
    hook.function(hook.context);
    usleep(MismatchDetection::look_interval_ns / 1000 + 1000);
    hook.function(hook.context);
  });
}

// After a restart from a checkpoint all processes have other numbers, or other beginnings.
TEST(MismatchDetection, WhoIsNotWhatItWasSaysNobodyHasEnded) {
  EXPECT_TRUE(
      has(said_of_a_dead_rank(own_mark()), "rank 1 has ended before the barrier in which rank 0 waits"));
  EXPECT_EQ(said_of_a_dead_rank({own_mark().process, own_mark().started + 2}), "");
}

const std::vector<int> sizes = {2, 3, 5};

TEST(MismatchDetection, OtherCollective) {
  for (const int ranks : sizes)
    expect_named(ranks, [](Rank& rank) { rank.bootstrap.rank == 1 ? rank.bcast(24, 0) : rank.allreduce(2); },
                 {"bcast of 24 bytes with root 0", "allreduce of 16 bytes"});
}

TEST(MismatchDetection, OtherLength) {
  for (const int ranks : sizes)
    expect_named(ranks, [](Rank& rank) { rank.allreduce(rank.bootstrap.rank == 1 ? 3 : 2); },
                 {"allreduce of 24 bytes", "allreduce of 16 bytes"});
}

TEST(MismatchDetection, OtherLengthInSlots) {
  for (const int ranks : sizes)
    expect_named(ranks, [](Rank& rank) { rank.bcast(rank.bootstrap.rank == 1 ? 8 : 300000, 0); },
                 {"bcast of 8 bytes with root 0", "bcast of 300000 bytes with root 0"});
}

// No rank waits for another one in it where both are roots.
TEST(MismatchDetection, OtherRoot) {
  for (const int ranks : sizes)
    expect_named(ranks, [](Rank& rank) { rank.bcast(8, rank.bootstrap.rank == 1); },
                 {"bcast of 8 bytes with root 0", "bcast of 8 bytes with root 1"});
}

// All come to one counter; the last of them finds that their fingerprints do not add up.
TEST(MismatchDetection, OtherCallAtTheCounter) {
  setenv("ESPALIER_BARRIER", "central", 1);
  setenv("ESPALIER_ALLREDUCE", "central", 1);
  for (const int ranks : sizes)
    expect_named(
        ranks,
        [](Rank& rank) { rank.bootstrap.rank == 1 ? (void)rank.communicator->barrier() : rank.allreduce(2); },
        {"barrier", "allreduce of 16 bytes"});
  unsetenv("ESPALIER_BARRIER");
  unsetenv("ESPALIER_ALLREDUCE");
}

TEST(MismatchDetection, ARankThatLeavesIsNamed) {
  Board board(3);
  run_ranks(3, [&](int r) {
    Rank rank(board, r);
    rank.right_calls();
    if (r == 1) return;
    const std::string mine = said([&] { rank.allreduce(2); });
    EXPECT_TRUE(has(
        mine,
        "rank 1 has freed the communicator or the request, or finalized, before the allreduce of 16 bytes"))
        << mine;
  });
}

// One that has done its part of a call may go while others wait in it for another rank.
TEST(MismatchDetection, ARankThatLeavesAfterItsPartIsNotMissed) {
  Board board(3);
  run_ranks(3, [&](int r) {
    Rank rank(board, r);
    rank.right_calls();
    if (r == 2) usleep(1'200'000);  // more than two looks around
    EXPECT_EQ(
        said([&] { rank.communicator->reduce(rank.data.data(), rank.result.data(), 1, sum_of_words(), 0); }),
        "");
  });
}

TEST(MismatchDetection, ALateRankIsWaitedFor) {
  Board board(2);
  run_ranks(2, [&](int r) {
    Rank rank(board, r);
    rank.right_calls();
    if (r == 1) usleep(1'200'000);
    EXPECT_EQ(said([&] { rank.allreduce(2); }), "");
    EXPECT_EQ(rank.result[0], 2u);
  });
}

TEST(MismatchDetection, AKilledRankIsNamed) {
  Board board(3), ready(4);  // the parent meets, too
  Job job(3, [&](int r) {
    Rank rank(board, r);
    rank.right_calls();
    ready.meet();
    if (r == 1)
      for (;;) pause();
    const std::string mine = said([&] { rank.allreduce(2); });
    EXPECT_TRUE(has(mine, "rank 1 has ended before the allreduce of 16 bytes")) << mine;
    EXPECT_TRUE(has(said([&] { rank.communicator->barrier(); }), "out of step"));
  });
  ready.meet();
  usleep(300'000);  // the others wait by then, or find it dead when they come
  job.expect_success_without(1);
}

TEST(MismatchDetection, OtherCommunicatorsGoOn) {
  Board board(2);
  run_ranks(2, [&](int r) {
    Rank rank(board, r);
    const auto other = Communicator::create(rank.bootstrap);
    rank.right_calls();
    EXPECT_NE(said([&] { rank.allreduce(r == 1 ? 3 : 2); }), "");
    for (int i = 0; i < 100; ++i) EXPECT_EQ(said([&] { other->barrier(); }), "");
  });
}

}  // namespace
}  // namespace espalier::runtime
