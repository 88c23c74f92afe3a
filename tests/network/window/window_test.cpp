#include "network/window/window.hpp"

#include <cstring>
#include <numeric>

#include "network/window/window_impl.hpp"
#include "tests/network/window/team.hpp"

namespace espalier::network {
namespace {

using testing::window_block;
using testing::WindowWorld;

const std::vector<std::vector<int>> teams = {{1}, {3}, {1, 1}, {2, 2}, {3, 1, 3}, {1, 4}, {1, 1, 1, 1, 1}};

// Every rank to every node, looked at by every rank of it; short and long data, through whichever rank.
TEST(Window, DataComeBeforeTheirNotificationOnEveryRank) {
  for (const auto& sizes : teams)
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{5}, longest_inline, longest_inline + 1, std::size_t{40000}})
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto ranks = static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0));
        WindowWorld world(sizes, bytes * ranks, static_cast<int>(ranks), seed);
        world.run([&](NodeWindow& window, int me) {
          std::vector<std::byte> mine = window_block(me, bytes);
          for (int node = 0; node < window.nodes(); ++node)
            window.put_notify(node, static_cast<std::size_t>(me) * bytes, mine.data(), bytes, me,
                              static_cast<std::uint32_t>(me + 1));
          for (int sender = 0; sender < static_cast<int>(ranks); ++sender) {
            EXPECT_EQ(window.wait_some(sender, 1), sender);
            EXPECT_EQ(window.test(sender), static_cast<std::uint32_t>(sender + 1));
            const auto expected = window_block(sender, bytes);
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                                   window.local() + static_cast<std::size_t>(sender) * bytes));
          }
          window.flush();
          mine.assign(bytes, std::byte{0xee});  // Mailboxes complains if it was not this rank's yet
        });
      }
}

// Notes what follows each poll.
struct PollingPlatform : HostPlatform {
  struct Wait {
    explicit Wait(const SpinLimits&) {}
    template <class... Sleep>
    void pass(const Sleep&...) {}
    void pass_poll() { notes += 'v'; }
    void begin_anew() { notes += 'f'; }
    bool timed_sleeps() const { return false; }
  };
  static inline std::string notes;
};

TEST(Window, PollsInVainMayYield) {
  using namespace std::chrono_literals;
  using Window = BasicNodeWindow<PollingPlatform>;
  std::vector<BasicNotifications<PollingPlatform>::Value> values(3);
  Window window({{{0}}, {{0}}, 0, 0}, {nullptr, 0, {values.data(), 3}}, {});
  EXPECT_EQ(window.test(0), 0U);
  EXPECT_EQ(window.reset(1), 0U);
  EXPECT_EQ(window.wait_some_for(0, 3, 0ms), -1);
  EXPECT_EQ(PollingPlatform::notes, "vvv");
  window.notify(0, 2, 7);
  EXPECT_EQ(window.wait_some_for(0, 3, 0ms), 2);
  EXPECT_EQ(window.test(2), 7U);
  EXPECT_EQ(window.reset(2), 7U);
  EXPECT_EQ(PollingPlatform::notes, "vvvfff");
}

TEST(Window, IdsWrapAround) {
  constexpr int ids = 3, rounds = 500;
  WindowWorld world({1, 2}, ids * 8, 2 * ids);
  world.run([&](NodeWindow& window, int me) {
    if (me == 1) return;  // of node 1, at whose first rank nothing but messages is aimed
    for (std::uint32_t n = 0; n < rounds; ++n) {
      const int id = static_cast<int>(n % ids);
      const std::uint64_t number = n * 1000003ull;
      if (window.node() == 0) {
        if (n >= ids) {
          EXPECT_EQ(window.wait_some(ids + id, 1), ids + id);
          EXPECT_EQ(window.reset(ids + id), n - ids + 1);
        }
        window.put_notify(1, static_cast<std::size_t>(id) * 8, &number, sizeof number, id, n + 1);
      } else {
        EXPECT_EQ(window.wait_some(id, 1), id);
        EXPECT_EQ(window.reset(id), n + 1);
        EXPECT_EQ(std::memcmp(window.local() + id * 8, &number, sizeof number), 0);
        window.notify(0, ids + id, n + 1);
      }
    }
  });
}

TEST(Window, AnyOfARangeAndTheLowestFirst) {
  WindowWorld world({1, 1}, 0, 65536 * 2);
  world.run([](NodeWindow& window, int me) {
    if (me == 0) {
      window.notify(1, 70000, 3);
      window.notify(0, 12, 4);
      EXPECT_EQ(window.wait_some(0, window.ids()), 12);
      EXPECT_EQ(window.reset(12), 4U);
      EXPECT_EQ(window.test(12), 0U);
    } else {
      EXPECT_EQ(window.wait_some(0, window.ids()), 70000);
      window.notify(1, 69999, 1);
      EXPECT_EQ(window.wait_some(0, window.ids()), 69999);
      EXPECT_EQ(window.wait_some(70000, 1), 70000);
    }
  });
}

TEST(Window, GetsAndAtomicOperations) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<int> sizes = {2, 1, 2};
    WindowWorld world(sizes, 30000, 8, seed);
    world.run([&](NodeWindow& window, int) {
      const int next = (window.node() + 1) % window.nodes();
      if (window.team().local == 0) {
        const auto mine = window_block(window.node(), 20000);
        window.put_notify(window.node(), 64, mine.data(), mine.size(), 0, 1);
        for (int node = 0; node < window.nodes(); ++node) window.notify(node, 1 + window.node(), 1);
      }
      window.wait_some(1 + next, 1);
      std::vector<std::byte> got(20000);
      window.get(next, 64, got.data(), 15000);
      window.get(next, 64 + 15000, got.data() + 15000, 5000);
      for (int i = 0; i < 50; ++i) window.fetch_add(1, 8, 2);
      std::uint64_t seen = 0;
      for (int i = 0; i < 20;) {
        const std::uint64_t old = window.compare_swap(0, 16, seen, seen + 1);
        i += old == seen;
        seen = old == seen ? seen + 1 : old;
      }
      window.flush();
      EXPECT_EQ(got, window_block(next, 20000));
    });
    EXPECT_EQ(world.of(2).fetch_add(1, 8, 0), 5U * 50 * 2);
    EXPECT_EQ(world.of(0).fetch_add(0, 16, 0), 5U * 20);
  }
}

// More is sent at once than a sender keeps under way.
TEST(Window, ASenderThatIsFasterThanItsTarget) {
  constexpr int puts = 2000;
  WindowWorld world({1, 1}, puts * 4000, puts);
  world.run([](NodeWindow& window, int me) {
    if (me == 1) {
      for (int i = 0; i < puts; ++i) EXPECT_EQ(window.wait_some(i, 1), i);
      const auto expected = window_block(7, 4000);
      for (int i = 0; i < puts; ++i)
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), window.local() + i * 4000));
      return;
    }
    const auto mine = window_block(7, 4000);
    for (int i = 0; i < puts; ++i)
      window.put_notify(1, static_cast<std::size_t>(i) * 4000, mine.data(), mine.size(), i, 1);
  });
}

TEST(Window, AWaitEndsWithItsTimeout) {
  WindowWorld world({1, 1}, 8, 4);
  EXPECT_EQ(world.of(0).wait_some_for(0, 4, std::chrono::milliseconds(5)), -1);
  EXPECT_EQ(world.of(0).wait_some_for(0, 4, std::chrono::milliseconds(0)), -1);
  world.of(0).notify(0, 2, 1);
  EXPECT_EQ(world.of(0).wait_some_for(0, 4, std::chrono::milliseconds(0)), 2);
}

// A program may poll with waits that have no time at all: each of them drives.
TEST(Window, AWaitWithoutTimeDrives) {
  WindowWorld world({1, 1}, 20000, 4);
  const auto mine = window_block(1, 20000);
  world.run([&](NodeWindow& window, int me) {
    if (me == 0) return window.put_notify(1, 0, mine.data(), mine.size(), 3, 1);
    while (window.wait_some_for(0, 4, std::chrono::milliseconds(0)) != 3) std::this_thread::yield();
  });
}

TEST(Window, WhatDoesNotExistIsRefused) {
  WindowWorld world({1, 1}, 100, 10);
  NodeWindow& window = world.of(0);
  const std::uint64_t data = 1;
  EXPECT_THROW(window.put(2, 0, &data, 8), WindowArgument);
  EXPECT_THROW(window.put(-1, 0, &data, 8), WindowArgument);
  EXPECT_THROW(window.put(1, 93, &data, 8), WindowArgument);
  EXPECT_THROW(window.put(1, SIZE_MAX, &data, 8), WindowArgument);
  EXPECT_THROW(window.notify(1, 10, 1), WindowArgument);
  EXPECT_THROW(window.notify(1, -1, 1), WindowArgument);
  EXPECT_THROW(window.notify(1, 1, 0), WindowArgument);
  EXPECT_THROW(window.wait_some(5, 6), WindowArgument);
  EXPECT_THROW(window.wait_some(5, 0), WindowArgument);
  EXPECT_THROW(window.fetch_add(0, 4, 1), WindowArgument);
  EXPECT_THROW(window.store(1, 12, 1), WindowArgument);
  EXPECT_THROW(window.store(1, 96, 1), WindowArgument);
  EXPECT_THROW(window.compare_swap(0, 96, 1, 1), WindowArgument);
  EXPECT_EQ(world.boxes.messages(), 0U);
}

// A store comes after the short puts of its rank, on every rank of the node that sees it.
TEST(Window, StoresComeAfterTheirRanksPuts) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    WindowWorld world({2, 1}, 4000, 8, seed);
    world.run([&](NodeWindow& window, int me) {
      constexpr std::uint64_t rounds = 50;
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        const auto block = window_block(static_cast<int>(round), 1000);
        if (window.node() == 1) {
          window.put(0, 64, block.data(), block.size());
          window.store(0, 8, round);
          // Until both have read it.
          window.drive_until([&] { return window.fetch_add(0, 16, 0) == 2 * round; });
          continue;
        }
        window.drive_until([&] { return window.fetch_add(0, 8, 0) == round; });
        EXPECT_EQ(std::memcmp(window.local() + 64, block.data(), block.size()), 0) << "rank " << me;
        window.fetch_add(0, 16, 1);
      }
      if (window.node() == 0) window.drive_until([&] { return window.fetch_add(0, 24, 0) == 1; });
      if (window.node() == 1) window.store(0, 24, 1);
    });
  }
}

// What goes wrong while another wait drives the window is told by the window's next call.
TEST(Window, AFailureAsideIsTold) {
  WindowWorld world({1, 1}, 20000, 4);
  const auto mine = window_block(1, 20000);
  world.of(0).put_notify(1, 0, mine.data(), mine.size(), 0, 1);
  world.boxes.break_tag(16 + request_lane);
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) {
          world.of(1).drive_aside();
          world.of(1).test(0);
        }
      },
      Error);
}

TEST(Window, ThreadsThatWaitForSomethingElseDriveIt) {
  WindowWorld world({1, 1}, 50000, 1);
  std::atomic<bool> over{false};
  std::thread aside([&] {
    while (!over.load()) world.of(1).drive_aside();
  });
  const auto mine = window_block(3, 50000);
  world.of(0).put_notify(1, 0, mine.data(), mine.size(), 0, 9);
  world.of(0).flush();  // takes the target's help, and its rank does nothing
  while (world.of(1).test(0) == 0) std::this_thread::yield();
  EXPECT_TRUE(std::equal(mine.begin(), mine.end(), world.of(1).local()));
  over = true;
  aside.join();
}

}  // namespace
}  // namespace espalier::network
