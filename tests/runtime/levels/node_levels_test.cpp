// Levels of processes that share nothing but a board.
#include "runtime/levels/node_levels.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <string>

#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using machine::Until;
using testing::Board;
using testing::bootstrap_of;
using testing::run_ranks;

const LevelsRequest lines{64, 64, 0, 0, 1, ""};

LevelsRequest with_tree(const char* tree) {
  LevelsRequest request = lines;
  request.tree = tree;
  return request;
}

/// The leaders wait for all, and then let them go on.
void meet(NodeLevels& levels) {
  const int count = levels.layout().count();
  const auto run = [&](bool up) {
    levels.begin();
    for (int i = 0; i < count; ++i) {
      const machine::OwnGroup* own = levels.own(up ? i : count - 1 - i);
      if (!own) continue;
      const auto part = [](int place) { return 64 * (1 + static_cast<std::size_t>(place)); };
      if (!up && own->place == 0) own->operations->store(0, levels.traversal());
      if (!up && own->place > 0) own->operations->wait_until(0, Until::equal, levels.traversal());
      if (up && own->place > 0) own->operations->store(part(own->place), levels.traversal());
      for (int place = 1; up && own->place == 0 && place < static_cast<int>(own->group.members.size());
           ++place)
        own->operations->wait_until(part(place), Until::equal, levels.traversal());
    }
    levels.end();
  };
  run(true);
  run(false);
}

TEST(NodeLevels, RanksMeetOverAnyLevels) {
  for (const int ranks : {1, 2, 5, 9})
    for (const int degree : {0, 2}) {
      Board board(ranks);
      run_ranks(ranks, [&](int rank) {
        LevelsRequest request = lines;
        request.degree = degree;
        request.virtual_levels = 3;
        request.root = ranks - 1;
        const auto levels = NodeLevels::create(bootstrap_of(board, rank), request);
        EXPECT_EQ(levels->layout().count() > 1, degree == 2 && ranks > 2) << levels->layout().text();
        for (int i = 0; i < 300; ++i) meet(*levels);
      });
    }
}

TEST(NodeLevels, SegmentsAreZeroAndShared) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    const auto levels = NodeLevels::create(bootstrap_of(board, rank), with_tree("((0 1) 2)"));
    const machine::OwnGroup* own = levels->own(rank == 2 ? 1 : 0);
    ASSERT_TRUE(own);
    auto* const bytes = static_cast<char*>(own->operations->segment());
    EXPECT_EQ(std::string(bytes, own->operations->bytes()), std::string(own->operations->bytes(), 0));
    board.meet();
    bytes[100 + rank] = 'x';
    meet(*levels);
    EXPECT_EQ(bytes[rank == 2 ? 102 : 101 - rank], 'x') << "what the other member wrote";
  });
}

// The groups follow the machine, and the processors that ranks are bound to.
TEST(NodeLevels, GroupsAreTheMachines) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  if (!CPU_ISSET(0, &mine) || !CPU_ISSET(1, &mine)) GTEST_SKIP() << "needs processors 0 and 1";
  Board board(5);
  run_ranks(5, [&](int rank) {
    setenv("ESPALIER_TOPOLOGY", "package:2 core:1 pu:1", 1);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(rank % 2, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const auto levels = NodeLevels::create(bootstrap_of(board, rank), lines);
    EXPECT_EQ(levels->layout().text(), "machine(core/package(0 2 4) core/package(1 3))");
    meet(*levels);
  });
}

std::string refusal(const Bootstrap& bootstrap, const LevelsRequest& request, const std::string& flaw = "") {
  try {
    NodeLevels::create(bootstrap, request, flaw);
  } catch (const LevelsArgument& error) {
    return std::string("argument: ") + error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NodeLevels, RefusalsAreTheSameOnAllRanks) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    const Bootstrap bootstrap = bootstrap_of(board, rank);
    LevelsRequest other = lines;
    if (rank == 2) other.degree = 2;
    EXPECT_EQ(refusal(bootstrap, other), "no levels: rank 2 has other options than rank 0");
    EXPECT_EQ(refusal(bootstrap, rank == 1 ? with_tree("((0 1) 2)") : lines),
              "no levels: rank 1 has other options than rank 0");
    EXPECT_EQ(refusal(bootstrap, lines, rank == 1 ? "nonsense" : ""),
              rank == 1 ? "argument: nonsense" : "argument: an argument of rank 1 is out of place");
    EXPECT_EQ(refusal(bootstrap, with_tree("(0 1)")),
              "argument: groups \"(0 1)\": rank 2 is missing, or comes twice");
    const auto levels = NodeLevels::create(bootstrap, lines);
    meet(*levels);
  });
}

std::string wait_for_ever(NodeLevels& levels) {
  try {
    levels.begin();
    levels.own(0)->operations->wait_until(0, Until::equal, 1000);
  } catch (const OutOfStep& error) {
    return error.what();
  }
  return "";
}

TEST(NodeLevels, ARankThatIsKilledEndsTheWaitsOfAll) {
  Board board(4);
  testing::Job job(4, [&](int rank) {
    const auto levels = NodeLevels::create(bootstrap_of(board, rank), lines);
    meet(*levels);
    if (rank == 2) raise(SIGKILL);
    EXPECT_NE(wait_for_ever(*levels).find("rank 2 has ended"), std::string::npos);
    EXPECT_NE(wait_for_ever(*levels).find("rank 2 has ended"), std::string::npos)
        << "nor any later traversal";
  });
  EXPECT_EQ(job.wait(2), -SIGKILL);
  job.expect_success();
}

// Ranks end one after the other, without a word, once their part is done.
TEST(NodeLevels, WhoEndsAfterItsPartIsNotMissed) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    auto levels = NodeLevels::create(bootstrap_of(board, rank), lines);
    levels->begin();
    machine::GroupOperations& group = *levels->own(0)->operations;
    group.fetch_add(0, 1);
    if (rank == 0) {
      usleep(500000);
      group.wait_until(0, Until::equal, 3);
      group.store(8, 1);
    } else if (rank == 1) {
      group.wait_until(8, Until::equal, 1);  // rank 2 has long ended
    }
    levels->end();
    (void)levels.release();
  });
}

}  // namespace
}  // namespace espalier::runtime
