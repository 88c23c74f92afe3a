// Persistent collectives of real processes: agreement, memory, mistakes.
#include "runtime/communicator/persistent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "base/error.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/persistent_meeting.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using collective::PersistentSpec;
using testing::Board;
using testing::bootstrap_of;
using testing::Job;
using testing::run_ranks;
using Doubles = std::vector<double>;

/// One rank of a job, and its communicator.
struct Member {
  Member(Board& board, int rank) : bootstrap(bootstrap_of(board, rank)), rank_info{rank, board.size()} {
    Process::instance().join(bootstrap);
    communicator = Communicator::create(bootstrap);
  }
  ~Member() {
    communicator.reset();
    Process::instance().leave();
  }
  std::unique_ptr<Persistent> prepare(PersistentSpec spec, const std::string& unable = "") {
    return communicator->prepare(bootstrap, spec, unable, why);
  }
  std::unique_ptr<PersistentMeeting> begin(PersistentSpec spec) {
    return communicator->begin_to_prepare(spec);
  }
  PersistentSpec allreduce(Doubles& send, Doubles& receive) const {
    return reduction_spec(rank_info, Collective::allreduce, 0, reinterpret_cast<std::byte*>(send.data()),
                          reinterpret_cast<std::byte*>(receive.data()), send.size() * sizeof(double),
                          *reduce::find(reduce::Op::sum, reduce::Type::float64));
  }

  Bootstrap bootstrap;
  collective::RankInfo rank_info;
  std::unique_ptr<Communicator> communicator;
  std::string why;
};

void check_allreduce(Member& member, std::size_t count, int turns) {
  Doubles send(count), receive(count);
  const auto persistent = member.prepare(member.allreduce(send, receive));
  ASSERT_TRUE(persistent) << member.why;
  const int n = member.rank_info.size;
  for (int turn = 0; turn < turns; ++turn) {
    std::iota(send.begin(), send.end(), member.rank_info.rank + turn);
    persistent->start();
    EXPECT_TRUE(persistent->active());
    if (turn % 2)
      while (!persistent->is_ready()) {
      }
    persistent->complete();
    EXPECT_FALSE(persistent->active());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(receive[i], n * (static_cast<double>(i) + turn) + n * (n - 1) / 2.0);
  }
}

TEST(Persistent, OneAfterTheOtherOfAnyLength) {
  for (const int ranks : {2, 3}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      Member member(board, rank);
      for (const std::size_t count : {1, 14, 600, 40'000}) check_allreduce(member, count, 7);
    });
  }
}

TEST(Persistent, LivesLongerThanItsCommunicator) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    Doubles send(10, rank + 1.0), receive(10);
    const auto persistent = member.prepare(member.allreduce(send, receive));
    member.communicator.reset();
    persistent->start();
    persistent->complete();
    EXPECT_EQ(receive, Doubles(10, 3.0));
  });
}

TEST(Persistent, ALongOneEndsInTheProgressThread) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_PROGRESS", "thread", 1);
    Member member(board, rank);
    Doubles send(40'000, rank + 1.0), receive(send.size());
    const auto persistent = member.prepare(member.allreduce(send, receive));
    ASSERT_TRUE(persistent) << member.why;
    for (int turn = 0; turn < 3; ++turn) {
      std::fill(receive.begin(), receive.end(), 0.0);
      board.meet();
      persistent->start();
      const volatile double& last = receive.back();
      for (int waited = 0; last == 0.0 && waited < 10'000; ++waited)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(last, 3.0);
      persistent->complete();
      EXPECT_EQ(receive, Doubles(send.size(), 3.0));
    }
    check_allreduce(member, 40'000, 50);  // completed by either thread
  });
}

// Invariant 4.
TEST(Persistent, ItsMemoryGoesBack) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    const memory::Arena& arena = *Process::instance().node()->arena();
    check_allreduce(member, 30'000, 1);  // the lines in which the ranks meet stay as long as the communicator
    board.meet();
    const std::size_t before = arena.used();
    board.meet();
    for (int i = 0; i < 300; ++i) check_allreduce(member, 30'000, 1);
    board.meet();
    EXPECT_EQ(arena.used(), before);
    board.meet();
  });
}

TEST(Persistent, OneRankThatCannotLeavesItToTheHostOnAll) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    EXPECT_FALSE(member.prepare(collective::barrier_spec(member.rank_info), rank == 1 ? "no kernel" : ""));
    EXPECT_EQ(member.why, "rank 1: no kernel");
  });
}

TEST(Persistent, WithoutMemoryItIsTheHosts) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_SHM", "16MiB", 1);
    Member member(board, rank);
    Doubles send(std::size_t{4} << 20), receive(send.size());
    EXPECT_FALSE(member.prepare(member.allreduce(send, receive)));
    EXPECT_NE(member.why.find("ESPALIER_SHM"), std::string::npos) << member.why;
    check_allreduce(member, 100, 2);
  });
}

TEST(Persistent, SwitchedOffItIsTheHostsWithoutAReason) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_PERSISTENT", "off", 1);
    Member member(board, rank);
    EXPECT_FALSE(member.prepare(collective::barrier_spec(member.rank_info)));
    EXPECT_EQ(member.why, "");
  });
}

// Invariant 6: both sides are named, on all ranks.
std::string error_of(Member& member, const PersistentSpec& spec) {
  try {
    member.prepare(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Persistent, DifferentLengthsAreAnErrorOnAllRanks) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    Doubles send(rank == 0 ? 10 : 11), receive(11);
    const std::string text = error_of(member, member.allreduce(send, receive));
    EXPECT_NE(text.find("rank 0 allreduce of 80 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1 allreduce of 88 bytes"), std::string::npos) << text;
    check_allreduce(member, 100, 2);  // nothing is lost
  });
}

TEST(Persistent, ABlockOfAnotherLengthThanWantedIsAnErrorOnAllRanks) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    const std::size_t used = Process::instance().node()->arena()->used();
    board.meet();  // rank 0 allocates before the ranks exchange anything
    Doubles send(10), receive(10);
    const auto block = [&](Doubles& numbers, std::size_t count) {
      return collective::Block{reinterpret_cast<std::byte*>(numbers.data()), count * sizeof(double)};
    };
    const std::vector<collective::Block> none(2);
    std::vector<collective::Block> out = none, in = none;
    if (rank == 0) out[1] = block(send, 10);
    if (rank == 1) in[0] = block(receive, 9);
    const std::string text =
        error_of(member, transfer_spec(member.rank_info, Collective::scatterv, 0, 0, out, in));
    EXPECT_NE(text.find("rank 1 wants 72 bytes of rank 0, which sends 80"), std::string::npos) << text;
    board.meet();
    EXPECT_EQ(Process::instance().node()->arena()->used(), used) << "its memory has gone back";
    board.meet();
  });
}

// Rank 0 offers memory before it knows what the others give: too little for blocks that only another rank
// knows, and none for long ones.
TEST(Persistent, WhatRankZeroDoesNotExpectHasMemoryAllTheSame) {
  for (const int ranks : {2, 3}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      Member member(board, rank);
      const std::size_t used = Process::instance().node()->arena()->used();
      board.meet();
      for (const std::size_t count : {1u, 500u, 9'000u}) {
        const auto of = [count](int from) { return from == 0 ? std::size_t{1} : count; };
        Doubles send(of(rank), rank), receive(count, -1);
        const auto block = [](Doubles& numbers, std::size_t length) {
          return collective::Block{reinterpret_cast<std::byte*>(numbers.data()), length * sizeof(double)};
        };
        // From each rank to the last one.
        std::vector<collective::Block> out(static_cast<std::size_t>(ranks)), in = out;
        std::vector<Doubles> received(static_cast<std::size_t>(ranks), receive);
        const bool is_last = rank == ranks - 1;
        if (!is_last) out.back() = block(send, of(rank));
        for (int from = 0; is_last && from < rank; ++from)
          in[static_cast<std::size_t>(from)] = block(received[static_cast<std::size_t>(from)], of(from));
        auto persistent =
            member.prepare(transfer_spec(member.rank_info, Collective::gatherv, ranks - 1, 0, out, in));
        ASSERT_TRUE(persistent) << member.why;
        for (int turn = 0; turn < 3; ++turn) {
          persistent->start();
          persistent->complete();
        }
        for (int from = 0; is_last && from < rank; ++from)
          for (std::size_t i = 0; i < of(from); ++i)
            ASSERT_EQ(received[static_cast<std::size_t>(from)][i], from) << count;
      }
      board.meet();
      EXPECT_EQ(Process::instance().node()->arena()->used(), used) << "its memory has gone back";
      board.meet();
    });
  }
}

// Started and completed, by waiting or by asking; what it throws.
std::string error_of_turn(Persistent& persistent, bool asks) {
  try {
    persistent.start();
    while (asks && !persistent.is_ready()) {
    }
    persistent.complete();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Persistent, AKilledRankIsNamed) {
  Board board(3), ready(4);  // the parent meets, too
  Job job(3, [&](int rank) {
    Member member(board, rank);
    Doubles send(10), receive(10);
    const auto persistent = member.prepare(member.allreduce(send, receive));
    EXPECT_EQ(error_of_turn(*persistent, rank == 0), "no error");
    ready.meet();
    if (rank == 1)
      for (;;) pause();
    const std::string text = error_of_turn(*persistent, rank == 0);
    EXPECT_NE(text.find("rank 1 has ended before the allreduce of 80 bytes"), std::string::npos) << text;
  });
  ready.meet();
  usleep(300'000);  // the others wait by then, or find it dead when they come
  job.expect_success_without(1);
}

TEST(Persistent, ARankThatFreesItUnstartedIsNamed) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    Doubles send(10), receive(10);
    auto persistent = member.prepare(member.allreduce(send, receive));
    if (rank == 1)
      persistent.reset();
    else
      EXPECT_NE(error_of_turn(*persistent, false).find("rank 1 has freed"), std::string::npos);
    board.meet();
  });
}

// Of short ones no rank waits for the others before the first start, which may be in any order.
TEST(PersistentMeeting, NoRankWaitsBeforeTheFirstStart) {
  for (const int ranks : {2, 3}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      Member member(board, rank);
      Doubles send(8, rank + 1.0), receive(8), other(1, rank + 1.0), sum(1);
      if (rank == 0) board.meet();  // the others begin when this one is there
      auto first = member.begin(member.allreduce(send, receive));
      auto second = member.begin(member.allreduce(other, sum));
      ASSERT_TRUE(first && second);
      if (rank != 0) board.meet();
      member.communicator.reset();
      std::unique_ptr<Persistent> one, two;
      for (int turn = 0; turn < 2; ++turn) {
        if (turn == (rank == 0 ? 1 : 0)) one = first->finish();
        if (turn == (rank == 0 ? 0 : 1)) two = second->finish();
      }
      for (int turn = 0; turn < 5; ++turn) {
        one->start();
        two->start();
        two->complete();
        one->complete();
        const double total = ranks * (ranks + 1) / 2.0;
        EXPECT_EQ(receive, Doubles(8, total));
        EXPECT_EQ(sum, Doubles(1, total));
      }
    });
  }
}

// Invariant 4, started or not.
TEST(PersistentMeeting, ItsMemoryGoesBack) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    Doubles send(8, 1), receive(8);
    {
      const auto first = member.begin(member.allreduce(send, receive));
    }  // makes the communicator's lines
    const memory::Arena& arena = *Process::instance().node()->arena();
    board.meet();
    const std::size_t before = arena.used();
    board.meet();
    for (int i = 0; i < 100; ++i) {
      auto meeting = member.begin(member.allreduce(send, receive));
      ASSERT_TRUE(meeting);
      if (i % 3 == 0) continue;
      const auto persistent = meeting->finish();
      if (i % 3 == 1) continue;
      persistent->start();
      persistent->complete();
      EXPECT_EQ(receive, Doubles(8, 2.0));
    }
    // Ranks that keep step need no more lines than at first: others have gone back by then.
    for (int i = 0; i < 100; ++i) member.begin(member.allreduce(send, receive))->finish();
    board.meet();
    EXPECT_EQ(arena.used(), before);
    board.meet();
  });
}

TEST(PersistentMeeting, DifferentLengthsAreAnErrorOnAllRanks) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    Doubles send(rank == 0 ? 10 : 11), receive(11);
    std::string text;
    try {
      member.begin(member.allreduce(send, receive))->finish();
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_NE(text.find("rank 0 allreduce of 80 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1 allreduce of 88 bytes"), std::string::npos) << text;
    check_allreduce(member, 100, 2);  // nothing is lost
  });
}

TEST(PersistentMeeting, ARankThatFreesItUnstartedIsNamed) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    Doubles send(10), receive(10);
    auto meeting = member.begin(member.allreduce(send, receive));
    if (rank == 1)
      meeting.reset();
    else
      EXPECT_NE(error_of_turn(*meeting->finish(), false).find("rank 1 has freed"), std::string::npos);
    board.meet();
  });
}

// Long ones, and those of which no rank knows what the others give, are prepared by all ranks together.
TEST(PersistentMeeting, OthersAreNone) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Member member(board, rank);
    Doubles send(10'000), receive(10'000);
    EXPECT_FALSE(member.begin(member.allreduce(send, receive)));
    const std::vector<collective::Block> none(2);
    EXPECT_FALSE(member.begin(transfer_spec(member.rank_info, Collective::gatherv, 0, 0, none, none)));
    check_allreduce(member, 10'000, 2);
  });
}

}  // namespace
}  // namespace espalier::runtime
