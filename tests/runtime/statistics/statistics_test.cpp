#include "runtime/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/communicator/communicator.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using nlohmann::json;
using testing::Board;
using testing::bootstrap_of;
using testing::run_ranks;

std::string report_path() {
  return ::testing::TempDir() + "espalier-stats-test-" + std::to_string(getpid()) + ".json";
}

void some_calls(Board& board, int rank) {
  const auto comm = Communicator::create(bootstrap_of(board, rank));
  ASSERT_TRUE(comm->active()) << comm->refusal();
  const auto& sum = *reduce::find(reduce::Op::sum, reduce::Type::float64);
  std::vector<double> data(512, 1.0);
  for (int i = 0; i < 7; ++i) comm->allreduce(Communicator::in_place, data.data(), data.size(), sum);
  for (int i = 0; i < 5; ++i) comm->barrier();
  comm->allreduce(Communicator::in_place, data.data(), 1, sum);
  comm->count_host(Collective::bcast, 100, "a type with gaps");
}

const json* row_of(const json& report, const std::string& collective, std::size_t bytes) {
  for (const json& row : report["rows"])
    if (row["collective"] == collective && row["bytes_from"] <= bytes && bytes <= row["bytes_to"])
      return &row;
  return nullptr;
}

TEST(Statistics, CountCallsOfAllRanksOnce) {
  constexpr int ranks = 3;
  const std::string path = report_path();
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    setenv("ESPALIER_STATS", path.c_str(), 1);
    EXPECT_TRUE(statistics::enabled());
    some_calls(board, rank);
    statistics::report(bootstrap_of(board, rank), {rank, board.size(), "a host 1.0", "capi"});
  });
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  const json report = json::parse(file);
  std::remove(path.c_str());
  EXPECT_EQ(report["ranks"], ranks);
  EXPECT_EQ(report["host"], "a host 1.0");
  EXPECT_EQ(report["build"], "capi");
  ASSERT_EQ(report["communicators"].size(), 1u);
  EXPECT_EQ(report["communicators"][0]["size"], ranks);

  const json* large = row_of(report, "allreduce", 4096);
  ASSERT_TRUE(large) << report.dump(1);
  EXPECT_EQ((*large)["calls"], 7);
  EXPECT_GT((*large)["seconds"].get<double>(), 0);
  EXPECT_EQ((*large)["transport"], "shared memory");
  EXPECT_TRUE((*large)["fallback"].is_null());
  EXPECT_NE((*large)["algorithm"], "host");
  const json* small = row_of(report, "allreduce", 8);
  ASSERT_TRUE(small);
  EXPECT_EQ((*small)["calls"], 1);
  const json* barrier = row_of(report, "barrier", 0);
  ASSERT_TRUE(barrier);
  EXPECT_EQ((*barrier)["calls"], 5);
  const json* bcast = row_of(report, "bcast", 100);
  ASSERT_TRUE(bcast);
  EXPECT_EQ((*bcast)["calls"], 1);
  EXPECT_EQ((*bcast)["algorithm"], "host");
  EXPECT_EQ((*bcast)["fallback"], "a type with gaps");
}

// ESPALIER_STATS is no agreed key: it may be set on some ranks only.
TEST(Statistics, OneRankThatAsksIsEnough) {
  const std::string path = report_path();
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_STATS", rank == 0 ? path.c_str() : "OFF", 1);
    EXPECT_EQ(statistics::enabled(), rank == 0);
    some_calls(board, rank);
    statistics::report(bootstrap_of(board, rank), {rank, board.size(), "a host", "capi"});
  });
  std::ifstream file(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(row_of(json::parse(file), "allreduce", 4096));
  std::remove(path.c_str());
}

// All ranks of a call take their places in the same trees, and those say what was asked for.
TEST(Statistics, SayWhichTreesWereUsed) {
  const std::string path = report_path();
  Board board(4);
  run_ranks(4, [&](int rank) {
    setenv("ESPALIER_STATS", path.c_str(), 1);
    setenv("ESPALIER_BCAST", "tree", 1);
    setenv("ESPALIER_GATHER_TREE", "chain", 1);
    setenv("ESPALIER_RELEASE_TREE", "knomial:2 levels=none", 1);
    {
      const auto comm = Communicator::create(bootstrap_of(board, rank));
      for (const int root : {0, 3}) {
        int value = root;
        comm->bcast(&value, sizeof value, root);
      }
    }
    statistics::report(bootstrap_of(board, rank), {rank, board.size(), "a host", "capi"});
  });
  std::ifstream file(path);
  ASSERT_TRUE(file);
  const json trees = json::parse(file)["trees"];
  std::remove(path.c_str());
  ASSERT_EQ(trees.size(), 2u) << trees.dump(1);
  EXPECT_EQ(trees[0]["root"], 0);
  EXPECT_EQ(trees[1]["root"], 3);
  for (const json& pair : trees) {
    EXPECT_EQ(pair["size"], 4);
    EXPECT_EQ(pair["ranks"], 4) << "not all ranks used the same trees";
    EXPECT_EQ(pair["gather_tree"], "chain");
    EXPECT_EQ(pair["release_tree"], "knomial:2 levels=none");
  }
  EXPECT_EQ(trees[0]["release"], "0(2(3) 1)");
  EXPECT_EQ(trees[1]["release"], "3(1(2) 0)");
}

TEST(Statistics, OffUnlessAskedFor) {
  Board board(2);
  const std::string path = report_path();
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_STATS", "off", 1);
    EXPECT_FALSE(statistics::enabled());
    some_calls(board, rank);
    statistics::report(bootstrap_of(board, rank), {rank, board.size(), "a host", "capi"});
  });
  EXPECT_FALSE(std::ifstream(path));
}

TEST(Statistics, PrintedWhenTheFileCannotBeWritten) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_STATS", "/nowhere/at/all.json", 1);
    some_calls(board, rank);
    if (rank == 0) ::testing::internal::CaptureStderr();
    statistics::report(bootstrap_of(board, rank), {rank, board.size(), "a host", "capi"});
    if (rank != 0) return;
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("/nowhere/at/all.json"), std::string::npos) << text;
    EXPECT_NE(text.find("allreduce"), std::string::npos) << text;
    EXPECT_NE(text.find("a type with gaps"), std::string::npos) << text;
  });
}

}  // namespace
}  // namespace espalier::runtime
