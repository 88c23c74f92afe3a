#include "runtime/statistics/counters.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "child.hpp"
#include "machine/wait.hpp"
#include "runtime/statistics/counters_file.hpp"
#include "runtime/statistics/recorder.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime::statistics {
namespace {

Call call_of(Collective collective, std::size_t bytes, plan::Algorithm algorithm = plan::Algorithm::tree) {
  return {collective, bytes, algorithm};
}

std::uint64_t calls_counted(int communicator_size) {
  std::uint64_t calls = 0;
  for_each_row([&](const Row& row) {
    if (row.communicator_size == communicator_size) calls += row.calls.get();
  });
  return calls;
}

int rows_in_use() {
  int rows = 0;
  for_each_row([&](const Row&) { ++rows; });
  return rows;
}

TEST(Counters, HoldNothingWhenStatisticsAreOff) {
  const auto body = [] {
    Counters counters(2);
    EXPECT_EQ(counters.row(call_of(Collective::barrier, 0)), nullptr);
  };
  EXPECT_EQ(status_of_child(body, "off"), 0);
}

TEST(Counters, AddUpBytesAndArrivalsOfCommunicatorsThatAreFreed) {
  EXPECT_EQ(status_of_child([] {
              for (int i = 0; i < 3; ++i) {
                Counters counters(5);
                Row* row = counters.row(call_of(Collective::allreduce, 8));
                row->calls.add(1), row->bytes.add(8), row->spread[4].add(2), row->spread.back().add(1);
              }
              std::uint64_t bytes = 0, early = 0, late = 0;
              for_each_row([&](const Row& row) {
                if (row.communicator_size != 5) return;
                bytes += row.bytes.get(), early += row.spread[4].get(), late += row.spread.back().get();
              });
              EXPECT_EQ(bytes, 24u);
              EXPECT_EQ(early, 6u);
              EXPECT_EQ(late, 3u);
              EXPECT_EQ(rows_in_use(), 1);
            }),
            0);
}

TEST(Counters, KeepKindsApartAndFindThemAgain) {
  EXPECT_EQ(status_of_child([] {
              Counters counters(3);
              Row* small = counters.row(call_of(Collective::allreduce, 8));
              ASSERT_NE(small, nullptr);
              EXPECT_EQ(small, counters.row(call_of(Collective::allreduce, 15)));
              EXPECT_NE(small, counters.row(call_of(Collective::allreduce, 16)));
              EXPECT_NE(small, counters.row(call_of(Collective::reduce, 8)));
              Row* other = counters.row(call_of(Collective::allreduce, 8, plan::Algorithm::central));
              EXPECT_NE(small, other);
              EXPECT_EQ(small, counters.row(call_of(Collective::allreduce, 8)));
              const std::string why = "no\nroom", more(1000, 'x');
              Call to_host = call_of(Collective::allreduce, 8, plan::Algorithm::host);
              to_host.why = &why;
              Row* refused = counters.row(to_host);
              EXPECT_STREQ(refused->why, "no room");
              EXPECT_EQ(refused, counters.row(to_host));
              to_host.why = &more;
              EXPECT_NE(refused, counters.row(to_host));
              EXPECT_EQ(counters.row(to_host), counters.row(to_host)) << "also a reason that is cut";
              EXPECT_NE(counters.row(call_of(Collective::bcast, ~std::size_t{0})), nullptr);
            }),
            0);
}

TEST(Counters, OfCommunicatorsThatCameAndWentAreKeptInOneRow) {
  EXPECT_EQ(status_of_child([] {
              for (int i = 0; i < 10000; ++i) {
                Counters counters(4);
                counters.row(call_of(Collective::barrier, 0))->calls.add(1);
                counters.row(call_of(Collective::bcast, 100))->calls.add(2);
              }
              EXPECT_EQ(calls_counted(4), 30000u);
              EXPECT_EQ(rows_in_use(), 2);
            }),
            0);
}

TEST(Counters, OfManyCommunicatorsAndThreadsAtOnce) {
  EXPECT_EQ(status_of_child([] {
              constexpr int threads = 4, each = 300, calls = 50;
              std::vector<std::thread> all;
              for (int t = 0; t < threads; ++t)
                all.emplace_back([] {
                  std::vector<std::unique_ptr<Counters>> kept;
                  for (int i = 0; i < each; ++i) kept.push_back(std::make_unique<Counters>(5));
                  for (int call = 0; call < calls; ++call)
                    for (const auto& counters : kept)
                      counters->row(call_of(Collective::barrier, 0))->calls.add(1);
                });
              for (std::thread& thread : all) thread.join();
              EXPECT_EQ(calls_counted(5), std::uint64_t{threads} * each * calls);
            }),
            0);
}

TEST(Recorder, CountsCallsAndTheirTime) {
  EXPECT_EQ(status_of_child([] {
              Counters counters(6);
              const machine::Waiter waiter;
              Row* row = counters.row(call_of(Collective::scan, 8));
              {
                const Recorder recorder(row, waiter);
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
              }
              EXPECT_EQ(row->calls.get(), 1u);
              EXPECT_GE(static_cast<double>(row->ticks.get()) * ticks::seconds_per_tick(), 0.0099);
            }),
            0);
}

class CountersFile : public ::testing::Test {
 protected:
  CountersFile() : target_(::testing::TempDir() + "counters-" + std::to_string(getpid()) + ".json") {}
  std::string part(int rank) const { return target_ + ".rank-" + std::to_string(rank); }
  static bool exists(const std::string& path) {
    struct stat status;
    return lstat(path.c_str(), &status) == 0;
  }
  std::string target_;
};

TEST_F(CountersFile, HoldsTheCountsOfAKilledProcess) {
  const int status = status_of_child([&] {
    if (!counters_file::open(target_, {1, 4, "a host", "capi"})) _exit(1);
    Counters counters(4);
    for (unsigned bytes = 1; bytes < 1u << 20; bytes *= 2)  // more than a run of rows
      for (const Collective collective : all_collectives)
        counters.row(call_of(collective, bytes))->calls.add(7);
    raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  std::ifstream file(part(1), std::ios::binary);
  counters_file::Header header;
  ASSERT_TRUE(file.read(reinterpret_cast<char*>(&header), sizeof header));
  EXPECT_STREQ(header.magic, "espalier counts");
  EXPECT_EQ(header.rank, 1);
  EXPECT_EQ(header.ranks, 4);
  EXPECT_STREQ(header.host, "a host");
  EXPECT_GT(header.seconds_per_tick, 0);
  file.seekg(static_cast<std::streamoff>(header.header_bytes));
  int rows = 0;
  std::array<std::uint64_t, sizeof(Row) / 8> row;
  while (file.read(reinterpret_cast<char*>(row.data()), sizeof row)) rows += row[0] == 7;
  EXPECT_EQ(rows, 20 * collective_count);
  unlink(part(1).c_str());
}

TEST_F(CountersFile, ReplacesThoseOfAnEarlierRunAndGoes) {
  for (const int rank : {0, 2, 3}) std::ofstream(part(rank)) << "old";
  EXPECT_EQ(status_of_child([&] {
              EXPECT_TRUE(counters_file::open(target_, {0, 2, "", ""}));
              EXPECT_TRUE(exists(part(0)));
              EXPECT_FALSE(exists(part(2)) || exists(part(3)));
              counters_file::remove();
              EXPECT_FALSE(exists(part(0)));
              Counters counters(2);  // in memory from now on
              counters.row(call_of(Collective::barrier, 0))->calls.add(1);
              EXPECT_EQ(calls_counted(2), 1u);
            }),
            0);
}

TEST_F(CountersFile, IsNotPutBesideDevicesLinksOrInNoFolder) {
  ASSERT_EQ(symlink("/dev/stderr", target_.c_str()), 0);
  EXPECT_EQ(status_of_child([&] {
              for (const std::string& target : {std::string("/dev/null"), std::string("/dev/stderr"),
                                                std::string("/no/such/folder/a"), target_})
                EXPECT_FALSE(counters_file::open(target, {0, 1, "", ""})) << target;
            }),
            0);
  EXPECT_FALSE(exists(part(0)));
  unlink(target_.c_str());
}

TEST_F(CountersFile, IsDoneWithoutWhereFilesMayNotBeLong) {
  EXPECT_EQ(status_of_child([&] {
              const rlimit limit{counters_file::header_bytes + 100, counters_file::header_bytes + 100};
              setrlimit(RLIMIT_FSIZE, &limit);
              EXPECT_TRUE(counters_file::open(target_, {0, 1, "", ""}));
              Counters counters(2);
              counters.row(call_of(Collective::barrier, 0))->calls.add(1);
              EXPECT_EQ(calls_counted(2), 1u);
              counters_file::remove();
            }),
            0);
}

}  // namespace
}  // namespace espalier::runtime::statistics
