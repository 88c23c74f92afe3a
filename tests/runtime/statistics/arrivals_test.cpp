#include "runtime/statistics/arrivals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <thread>
#include <vector>

#include "child.hpp"
#include "runtime/failure/call_records.hpp"
#include "runtime/statistics/recorder.hpp"

namespace espalier::runtime::statistics {
namespace {

constexpr int ranks = 3;

/// What ranks share, all zero.
struct Share {
  machine::Layout layout{.ranks = ranks, .slot_bytes = 0};
  std::vector<machine::FlagLine> memory =
      std::vector<machine::FlagLine>(layout.lines_bytes() / sizeof(machine::FlagLine));
  std::byte* begin() { return reinterpret_cast<std::byte*>(memory.data()); }
};

template <class Body>
int with_arrivals(Body body, const char* setting = "on") {
  return status_of_child([&] {
    setenv("ESPALIER_STATS_ARRIVALS", setting, 1);
    body();
  });
}

TEST(Arrivals, TheLineIsBesideTheRecordsOfCalls) {
  const machine::Layout layout{.ranks = ranks};
  EXPECT_GE(layout.stamps(1), layout.calls(1) + sizeof(CallRecords));
  EXPECT_LE(layout.stamps(1) + sizeof(Stamps), layout.calls(1) + machine::Layout::calls_bytes);
  EXPECT_EQ(layout.stamps(2) % machine::Layout::line_bytes, 0u);
}

TEST(Arrivals, AreOffUnlessTheyAreAskedFor) {
  const auto body = [] {
    Share share;
    EXPECT_FALSE(Arrivals(share.begin(), share.layout, 0).is_on());
  };
  EXPECT_EQ(with_arrivals(body, "off"), 0);
}

TEST(Arrivals, TheLastOneWaitsForNoRank) {
  const auto body = [] {
    Share share;
    Arrivals first(share.begin(), share.layout, 0), second(share.begin(), share.layout, 1),
        third(share.begin(), share.layout, 2);
    for (int call = 0; call < 5; ++call) {
      second.come(1000), first.come(1400), third.come(1100);
      EXPECT_EQ(first.waited()->ticks, 0u);
      EXPECT_TRUE(first.waited()->was_last);
      EXPECT_EQ(first.waited()->spread, 400u) << "from the first one's arrival to the last one's";
      EXPECT_EQ(second.waited()->spread, 0u) << "the last one alone counts it";
      EXPECT_EQ(second.waited()->ticks, 400u);
      EXPECT_FALSE(second.waited()->was_last);
      EXPECT_EQ(third.waited()->ticks, 300u);
    }
  };
  EXPECT_EQ(with_arrivals(body), 0);
}

TEST(Arrivals, ARankThatIsOneCallAheadSpoilsNothing) {
  const auto body = [] {
    Share share;
    Arrivals slow(share.begin(), share.layout, 0), fast(share.begin(), share.layout, 1),
        other(share.begin(), share.layout, 2);
    slow.come(10), fast.come(20), other.come(15);
    fast.come(90);
    EXPECT_EQ(slow.waited()->ticks, 10u);
    EXPECT_EQ(other.waited()->ticks, 5u);
  };
  EXPECT_EQ(with_arrivals(body), 0);
}

TEST(Arrivals, NothingIsKnownWhereARankCountsNone) {
  const auto body = [] {
    Share share;
    Arrivals first(share.begin(), share.layout, 0), second(share.begin(), share.layout, 1);
    first.come(10), second.come(20);
    EXPECT_FALSE(first.waited());
  };
  EXPECT_EQ(with_arrivals(body), 0);
}

TEST(Arrivals, AreCountedWhereBlocksAreNotEmpty) {
  EXPECT_TRUE(Arrivals::can_count(Collective::barrier, 0));
  for (const Collective all :
       {Collective::allreduce, Collective::allgather, Collective::bcast, Collective::scan}) {
    EXPECT_TRUE(Arrivals::can_count(all, 8)) << to_string(all);
    EXPECT_FALSE(Arrivals::can_count(all, 0)) << to_string(all);
  }
  for (const Collective some : {Collective::allgatherv, Collective::alltoallv, Collective::reduce_scatter})
    EXPECT_FALSE(Arrivals::can_count(some, 8)) << to_string(some);
}

/// Ranks 0, 1 and 2 come at 100, 300 and 200: how long each has waited, and which one was last.
struct Came {
  std::array<std::uint64_t, ranks> waited;
  int last = -1;
  bool operator==(const Came&) const = default;
};
Came came(Collective collective, int root) {
  Share share;
  std::vector<Arrivals> all;
  for (int rank = 0; rank < ranks; ++rank) all.emplace_back(share.begin(), share.layout, rank);
  Came result;
  for (Arrivals& each : all) each.expect(collective, 8, root);
  all[0].come(100), all[1].come(300), all[2].come(200);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto wait = all[static_cast<std::size_t>(rank)].waited();
    result.waited[static_cast<std::size_t>(rank)] = wait->ticks;
    if (wait->was_last) result.last = rank;
  }
  return result;
}

TEST(Arrivals, ARankWaitsForThoseWhoseDataItNeeds) {
  const auto body = [] {
    EXPECT_EQ(came(Collective::alltoall, 0), (Came{{200, 0, 100}, 1}));
    EXPECT_EQ(came(Collective::bcast, 1), (Came{{200, 0, 100}, 1}));
    EXPECT_EQ(came(Collective::bcast, 2), (Came{{100, 0, 0}, -1})) << "no rank waits for rank 1";
    EXPECT_EQ(came(Collective::reduce, 0), (Came{{200, 0, 0}, 1}));
    EXPECT_EQ(came(Collective::gather, 1), (Came{{0, 0, 0}, -1})) << "the root comes last";
    EXPECT_EQ(came(Collective::scan, 0), (Came{{0, 0, 100}, 1}));
  };
  EXPECT_EQ(with_arrivals(body), 0);
}

// The root of a bcast does not wait: it may be many calls ahead.
TEST(Arrivals, ARankThatIsFarAheadCameFirst) {
  const auto body = [] {
    Share share;
    Arrivals root(share.begin(), share.layout, 0), slow(share.begin(), share.layout, 1),
        other(share.begin(), share.layout, 2);
    for (Arrivals* each : {&root, &slow, &other}) each->expect(Collective::bcast, 8, 0);
    other.come(5), slow.come(10);
    for (std::size_t call = 0; call < 2 * Stamps::kept; ++call) root.come(1000 + call);
    EXPECT_EQ(slow.waited()->ticks, 0u);
  };
  EXPECT_EQ(with_arrivals(body), 0);
}

TEST(Arrivals, GoIntoTheRowOfTheCall) {
  const auto body = [] {
    Share share;
    Counters counters(ranks);
    const machine::Waiter waiter;
    Arrivals mine(share.begin(), share.layout, 0), second(share.begin(), share.layout, 1),
        third(share.begin(), share.layout, 2);
    Row* row = counters.row({Collective::barrier, 0, plan::Algorithm::tree});
    {
      const Recorder recorder(row, waiter, &mine);
      second.come(ticks::now());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      third.come(ticks::now());
    }
    const double waited = static_cast<double>(row->waited.get()) * ticks::seconds_per_tick();
    EXPECT_GE(waited, 0.0019);
    EXPECT_LE(row->waited.get(), row->ticks.get());
    EXPECT_EQ(row->last.get(), 0u);
  };
  EXPECT_EQ(with_arrivals(body), 0);
}

}  // namespace
}  // namespace espalier::runtime::statistics
