#include "runtime/statistics/sites.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "child.hpp"
#include "machine/wait.hpp"
#include "runtime/statistics/recorder.hpp"
#include "runtime/statistics/stack.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime::statistics {
namespace {

using nlohmann::json;

// This program has Espalier linked in, and all of it would be passed over: frames are seen by a thread's first
// ones, which are the C library's.
std::vector<std::string> files_of(const json& site) {
  std::vector<std::string> files;
  for (const json& place : site[0][0]) files.push_back(place[0]);
  return files;
}

template <class Body>
int with_sites(const char* frames, Body body) {
  return status_of_child([&] {
    setenv("ESPALIER_STATS_SITES", frames, 1);
    sites::begin();
    body();
  });
}

void call(Counters& counters, std::size_t bytes, int times) {
  const machine::Waiter waiter;
  for (int i = 0; i < times; ++i)
    const Recorder recorder(counters.row({Collective::allreduce, bytes, plan::Algorithm::tree}), waiter);
}

TEST(Sites, AreNotCountedUnlessTheyAreAskedFor) {
  const auto body = [] {
    Counters counters(2);
    call(counters, 8, 3);
    EXPECT_EQ(sites::frames, 0);
    EXPECT_TRUE(sites::pack().empty());
  };
  EXPECT_EQ(with_sites("0", body), 0);
  EXPECT_EQ(with_sites("nine", body), 0);
}

TEST(Sites, AreCountedByPlaceAndSizeClass) {
  const auto body = [] {
    Counters counters(2);
    call(counters, 8, 3);
    call(counters, 15, 2);
    call(counters, 64, 1);
    const json packed = sites::pack();
    ASSERT_EQ(packed.size(), 2u);
    EXPECT_EQ(packed[0][1], 5);
    EXPECT_EQ(packed[1][1], 1);
    EXPECT_GT(packed[0][2].get<double>(), 0);
    ASSERT_FALSE(files_of(packed[0]).empty());
    EXPECT_NE(files_of(packed[0])[0].find("libc.so"), std::string::npos);
  };
  EXPECT_EQ(with_sites("2", body), 0);
}

TEST(Sites, OfSeveralThreads) {
  const auto body = [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        Counters counters(2);
        call(counters, 8, 1000);
      });
    for (std::thread& thread : threads) thread.join();
    std::uint64_t calls = 0;
    for (const json& site : sites::pack()) calls += site[1].get<std::uint64_t>();
    EXPECT_EQ(calls, 4000u);
  };
  EXPECT_EQ(with_sites("1", body), 0);
}

TEST(Sites, OfAllRanksAreAddedUp) {
  const json place = {"/app", 64, "main"};
  const json key = {json::array({place}), 3, 4, 2, 0};
  const json other = {json::array({place}), 3, 4, 2, 1};
  json sums = json::object();
  sites::add(sums, json::array({{key, 10, 0.5}}));
  sites::add(sums, json::array({{key, 10, 1.5}, {other, 1, 0.0}}));
  const json list = sites::describe(sums, {{"2", 7}});
  ASSERT_EQ(list.size(), 2u);
  const json& first = list[0];
  EXPECT_EQ(first["frames"], json::array({{{"file", "/app"}, {"address", 64}, {"symbol", "main"}}}));
  EXPECT_EQ(first["communicator"], 7);
  EXPECT_EQ(first["collective"], "allreduce");
  EXPECT_EQ(first["bytes_from"], 8);
  EXPECT_EQ(first["bytes_to"], 15);
  EXPECT_EQ(first["ranks"], 2);
  EXPECT_EQ(first["calls"], 20);
  EXPECT_EQ(first["mean_seconds"], 1.0);
  EXPECT_EQ(first["slowest_seconds"], 1.5);
  EXPECT_FALSE(first["by_host"].get<bool>());
  EXPECT_TRUE(list[1]["by_host"].get<bool>());
}

TEST(Stack, APlaceHasItsFileAndSymbol) {
  // Of functions that AddressSanitizer has, too, the address is that of its own.
  const stack::Place place = stack::place_of(reinterpret_cast<char*>(&std::rand) + 1);
  EXPECT_NE(place.file.find("libc.so"), std::string::npos);
  EXPECT_EQ(place.symbol, "rand");
  int nowhere = 0;
  EXPECT_EQ(stack::place_of(&nowhere).file, "");
}

}  // namespace
}  // namespace espalier::runtime::statistics
