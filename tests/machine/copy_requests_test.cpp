#include "machine/copy_requests.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "machine/host_platform.hpp"
#include "machine/wait.hpp"

namespace espalier::machine {
namespace {

using Requests = CopyRequests<HostPlatform>;

/// A rank that serves others while it waits.
struct Rank {
  Rank(std::byte* share, const Layout& layout, int rank)
      : requests(share, layout, rank), waiter(wait_policy(WaitMode::automatic, 4), hook()) {}
  ProgressHook hook() {
    return {[](void* self) {
              auto& rank = *static_cast<Rank*>(self);
              rank.requests.serve(rank.waiter);
              if (rank.drives_left-- <= 0) throw std::runtime_error("waits for ever");
            },
            this};
  }
  Requests requests;
  Waiter waiter;
  int drives_left = 1'000'000;
};

struct Ranks {
  explicit Ranks(int ranks) {
    layout.ranks = ranks;
    layout.slots = 1;
    layout.slot_bytes = 4096;
    share.reset(static_cast<std::byte*>(std::aligned_alloc(4096, layout.bytes())));
    std::memset(share.get(), 0, layout.bytes());
    for (int rank = 0; rank < ranks; ++rank) all.push_back(std::make_unique<Rank>(share.get(), layout, rank));
  }
  Rank& of(int rank) { return *all[static_cast<std::size_t>(rank)]; }
  Layout layout;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> share;
  std::vector<std::unique_ptr<Rank>> all;
};

std::vector<int> numbers(std::size_t count, int first) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

// Each asks the next one, and serves the one before while it waits.
TEST(CopyRequests, RanksThatAskEachOtherInACircleAllGetTheirs) {
  constexpr int n = 3;
  Ranks ranks(n);
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank)
    threads.emplace_back([&, rank] {
      const std::size_t counts[] = {1, 1024, 1025, 50'000};
      for (const std::size_t count : counts) {
        static std::barrier<> together(n);
        const int owner = (rank + 1) % n;
        static std::vector<int> data[n];
        data[rank] = numbers(count, 1000 * rank);
        Rank& me = ranks.of(rank);
        me.waiter.begin_call(static_cast<Fingerprint>(count));
        me.requests.allow(data[rank].data(), count * sizeof(int), me.waiter.fingerprint());
        together.arrive_and_wait();
        std::vector<int> got(count);
        me.requests.fetch(me.waiter, owner, got.data(), data[owner].data(), count * sizeof(int));
        EXPECT_EQ(got, numbers(count, 1000 * owner)) << rank;
        for (++done; done % n != 0;) me.requests.serve(me.waiter);
        together.arrive_and_wait();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

/// Whether rank 0 gives rank 1 these bytes while both wait for a while.
bool gives(Ranks& ranks, const void* source, std::size_t bytes) {
  std::atomic<bool> over{false};
  std::thread owner([&] {
    while (!over) ranks.of(0).requests.serve(ranks.of(0).waiter);
  });
  std::vector<std::byte> got(bytes);
  bool given = true;
  try {
    ranks.of(1).drives_left = 200;
    ranks.of(1).requests.fetch(ranks.of(1).waiter, 0, got.data(), source, bytes);
  } catch (const std::runtime_error&) {
    given = false;
  }
  over = true;
  owner.join();
  return given;
}

TEST(CopyRequests, ARankCopiesOnlyWhatItHasShownInThisCall) {
  const std::vector<int> shown = numbers(100, 0), hidden = numbers(100, 0);
  const auto begin_calls = [](Ranks& ranks, Fingerprint owner, Fingerprint reader) {
    ranks.of(0).waiter.begin_call(owner);
    ranks.of(1).waiter.begin_call(reader);
  };
  Ranks ranks(2);
  begin_calls(ranks, 5, 5);
  ranks.of(0).requests.allow(shown.data(), 400, 5);
  EXPECT_TRUE(gives(ranks, shown.data(), 400));
  EXPECT_TRUE(gives(ranks, shown.data() + 50, 200));
  EXPECT_FALSE(gives(ranks, shown.data() + 50, 204)) << "beyond its end";
  Ranks others(2);
  begin_calls(others, 5, 5);
  others.of(0).requests.allow(shown.data(), 400, 5);
  EXPECT_FALSE(gives(others, hidden.data(), 400));
  begin_calls(others, 6, 6);
  EXPECT_FALSE(gives(others, shown.data(), 400)) << "in the call before";
  begin_calls(others, 7, 6);
  others.of(0).requests.allow(shown.data(), 400, 7);
  EXPECT_FALSE(gives(others, shown.data(), 400)) << "the reader is in another call";
}

}  // namespace
}  // namespace espalier::machine
