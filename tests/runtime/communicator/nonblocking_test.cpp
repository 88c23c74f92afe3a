// Nonblocking collectives of real processes: what becomes of their memory, of communicators that go first,
// and of ranks that call something else.
#include "runtime/communicator/nonblocking.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <list>
#include <numeric>

#include "base/error.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using collective::PersistentSpec;
using testing::Board;
using testing::bootstrap_of;
using testing::run_ranks;
using Doubles = std::vector<double>;

/// One rank of a job, and its communicator.
struct Participant {
  Participant(Board& board, int rank) : bootstrap(bootstrap_of(board, rank)), rank_info{rank, board.size()} {
    Process::instance().join(bootstrap);
    communicator = Communicator::create(bootstrap);
  }
  ~Participant() {
    communicator.reset();
    Process::instance().leave();
  }

  Bootstrap bootstrap;
  collective::RankInfo rank_info;
  std::unique_ptr<Communicator> communicator;
};

/// An allreduce that has been started.
struct Started {
  Started(Participant& member, std::size_t count, int turn) : send(count), receive(count) {
    std::iota(send.begin(), send.end(), member.rank_info.rank + turn);
    const int n = member.rank_info.size;
    for (std::size_t i = 0; i < count; ++i)
      wanted.push_back(n * (static_cast<double>(i) + turn) + n * (n - 1) / 2.0);
    call.spec =
        reduction_spec(member.rank_info, Collective::allreduce, 0, reinterpret_cast<std::byte*>(send.data()),
                       reinterpret_cast<std::byte*>(receive.data()), count * sizeof(double),
                       *reduce::find(reduce::Op::sum, reduce::Type::float64));
    nonblocking = member.communicator->nonblocking(call.spec, why);
    if (nonblocking) nonblocking->start(call);
  }
  void complete() {
    nonblocking->complete(call);
    EXPECT_EQ(receive, wanted);
  }

  Doubles send, receive, wanted;
  std::string why;
  Nonblocking::Call call;
  KeptNonblocking nonblocking;
};

TEST(Nonblocking, ManyAtATime) {
  for (const int ranks : {2, 3}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      Participant member(board, rank);
      for (int turn = 0; turn < 3; ++turn) {
        std::list<Started> all;
        for (const std::size_t count : {1, 14, 600, 40'000})
          for (int i = 0; i < 20; ++i) all.emplace_back(member, count, turn + i);
        if (turn == 1) all.reverse();
        for (Started& each : all) each.complete();
      }
    });
  }
}

// Rank 0 waits elsewhere for the others, and drives nothing meanwhile.
TEST(Nonblocking, WhoHasStartedManyOwesNothing) {
  for (const int ranks : {2, 3}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      Participant member(board, rank);
      std::list<Started> all;
      for (int i = 0; i < 100; ++i) all.emplace_back(member, i % 9 == 0 ? 3000 : 1, i);
      if (rank == 0) board.meet();
      for (Started& each : all) each.complete();
      if (rank != 0) board.meet();
    });
  }
}

TEST(Nonblocking, LivesLongerThanItsCommunicator) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Participant member(board, rank);
    std::list<Started> all;
    for (int i = 0; i < 3; ++i) all.emplace_back(member, 100, i);
    member.communicator.reset();
    for (Started& each : all) each.complete();
    all.clear();
  });
}

// Invariant 4.
TEST(Nonblocking, ItsMemoryGoesBack) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Process::instance().join(bootstrap_of(board, rank));
    const memory::Arena& arena = *Process::instance().node()->arena();
    board.meet();
    const std::size_t before = arena.used();
    board.meet();
    for (int i = 0; i < 20; ++i) {
      const Bootstrap bootstrap = bootstrap_of(board, rank);
      auto communicator = Communicator::create(bootstrap);
      Doubles data(30'000, rank == 0 ? 1.0 : 0.0);
      auto* bytes = reinterpret_cast<std::byte*>(data.data());
      const std::vector<collective::Block> blocks(2, {bytes, data.size() * sizeof(double)}), none;
      Nonblocking::Call call;
      call.spec = transfer_spec({rank, 2}, Collective::bcast, 0, 0, rank == 0 ? blocks : none,
                                rank == 0 ? none : blocks);
      std::string why;
      auto nonblocking = communicator->nonblocking(call.spec, why);
      ASSERT_TRUE(nonblocking) << why;
      nonblocking->start(call);
      communicator.reset();  // the root may be through before the other rank reads
      nonblocking->complete(call);
      EXPECT_EQ(data[29'999], 1.0);
      std::list<Nonblocking::Call> many(100);  // which need pages of lines
      for (Nonblocking::Call& each : many) {
        each.spec = collective::barrier_spec({rank, 2});
        EXPECT_TRUE(nonblocking->start(each));
      }
      for (Nonblocking::Call& each : many) nonblocking->complete(each);
    }
    board.meet();
    EXPECT_EQ(arena.used(), before);
    board.meet();
    Process::instance().leave();
  });
}

TEST(Nonblocking, TooLongForTheBudgetItIsTheHosts) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_SHM", "16MiB", 1);
    Participant member(board, rank);
    const Started long_one(member, std::size_t{4} << 20, 1);
    EXPECT_FALSE(long_one.nonblocking);
    EXPECT_NE(long_one.why.find("ESPALIER_SHM"), std::string::npos) << long_one.why;
    Started(member, 100, 2).complete();
  });
}

TEST(Nonblocking, SwitchedOffItIsTheHostsWithoutAReason) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_NONBLOCKING", "off", 1);
    Participant member(board, rank);
    const Started started(member, 10, 1);
    EXPECT_FALSE(started.nonblocking);
    EXPECT_EQ(started.why, "");
  });
}

// Invariant 6.
TEST(Nonblocking, DifferentLengthsAreAnErrorOnBothRanks) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Participant member(board, rank);
    Started started(member, rank == 0 ? 10 : 12, 1);
    try {
      started.nonblocking->complete(started.call);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("allreduce"), std::string::npos) << error.what();
    }
    started.nonblocking->forget(started.call);
    board.meet();
  });
}

/// A scatterv with so many bytes for each rank, of which rank 1 takes but `taken`, that has been started.
struct Scattered {
  Scattered(Participant& member, std::size_t bytes, std::size_t taken)
      : data(bytes * static_cast<std::size_t>(member.rank_info.size)) {
    const auto [rank, size] = member.rank_info;
    std::vector<collective::Block> out, in(static_cast<std::size_t>(size));
    for (int reader = 0; reader < size && rank == 0; ++reader)
      out.push_back({data.data() + static_cast<std::size_t>(reader) * bytes, bytes});
    in[0] = {data.data(), rank == 1 ? taken : bytes};
    call.spec = transfer_spec(member.rank_info, Collective::scatterv, 0, 0, out, in);
    std::string why;
    nonblocking = member.communicator->nonblocking(call.spec, why);
    nonblocking->start(call);
  }
  std::vector<std::byte> data;
  Nonblocking::Call call;
  KeptNonblocking nonblocking;
};

// Of a block that is read where it lies, too.
TEST(Nonblocking, MoreThanARankTakesIsAnErrorOfThatCallAlone) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{100'000}, std::size_t{4'000'000}}) {
    Board board(3);
    run_ranks(3, [&](int rank) {
      Participant member(board, rank);
      Scattered scattered(member, bytes, bytes - 1);
      Started(member, 600, 1).complete();
      Error::Kind kind = Error::Kind::other;
      try {
        scattered.nonblocking->complete(scattered.call);
      } catch (const Error& error) {
        kind = error.kind();
      }
      EXPECT_EQ(kind == Error::Kind::truncation, rank == 1);
      Started(member, 600, 2).complete();
      board.meet();
    });
  }
}

TEST(Nonblocking, ARankThatIsGoneIsAnError) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    Participant member(board, rank);
    Started(member, 10, 1).complete();
    if (rank == 1) return;
    Started started(member, 10, 2);
    EXPECT_THROW(started.nonblocking->complete(started.call), Error);
    started.nonblocking->forget(started.call);
  });
}

}  // namespace
}  // namespace espalier::runtime
