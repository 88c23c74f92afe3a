// Long blocks of scatters that the readers copy from the root's own buffer, on ranks that are threads: with the root or
// the readers elsewhere, and where reads are refused.
#include "collective/schedule/exposed_blocks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <thread>
#include <vector>

#include "collective/schedule/calls_under_way.hpp"
#include "memory/read_refusals.hpp"
#include "tests/collective/doubles.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/collective/under_way.hpp"

namespace espalier::collective {
namespace {

using testing::bytes_of;
using testing::RankMemory;
using testing::RankMemoryOf;
using testing::Ranks;
using testing::SharedMemory;
using testing::WatchedMachine;

// The kernel's copies gain where the readers run at the same time.
TEST(ExposedBlocks, WhereRanksShareCoresLongerOnesAlone) { EXPECT_LT(least_exposed(1), least_exposed(1.5)); }

CallMemory<RankMemoryOf> with_short_blocks_exposed(CallMemory<RankMemoryOf> memory) {
  memory.expose_from = 512;
  return memory;
}

/// A rank of scatters from rank 0.
class ScatteringRank {
 public:
  ScatteringRank(WatchedMachine& m, SharedMemory& memory)
      : m_(m), own_(memory.for_a_rank()), calls_(m, with_short_blocks_exposed(memory.with(own_))) {}

  /// Rank r gets so many numbers and r more.
  void start(std::size_t count) {
    ++round_;
    Started& to = started_.emplace_back();
    std::vector<Block> out, in;
    const auto n = static_cast<std::size_t>(m_.size());
    for (std::size_t peer = 0; peer < n; ++peer) {
      const std::vector<double> block = testing::vector_of(static_cast<int>(peer), count + peer, round_);
      if (m_.rank() == 0) to.send.insert(to.send.end(), block.begin(), block.end());
      if (static_cast<int>(peer) == m_.rank()) to.wanted = block;
    }
    to.receive.resize(to.wanted.size());
    std::size_t begin = 0;
    for (std::size_t peer = 0; peer < n && m_.rank() == 0; begin += count + peer++)
      out.push_back({bytes_of(to.send) + begin * 8, (count + peer) * 8});
    in.push_back({bytes_of(to.receive), to.receive.size() * 8});
    to.call.spec = transfer_spec({m_.rank(), m_.size()}, Collective::scatterv, 0, 0, out, in);
    EXPECT_TRUE(calls_.start(to.call));
    EXPECT_EQ(to.call.exposure.lines.buffer != nullptr, m_.rank() == 0);
  }

  /// The last one first. What has been sent is written again at once.
  void complete_all() {
    for (; !started_.empty(); started_.pop_back()) {
      Started& last = started_.back();
      while (!calls_.advance(last.call)) {
        calls_.advance_all();
        std::this_thread::yield();
      }
      std::fill(last.send.begin(), last.send.end(), -1.0);
      EXPECT_EQ(last.receive, last.wanted);
    }
  }

 private:
  struct Started {
    CallUnderWay call;
    std::vector<double> send, receive, wanted;
  };
  WatchedMachine& m_;
  RankMemory own_;
  CallsUnderWay<WatchedMachine, RankMemoryOf> calls_;
  std::list<Started> started_;
  int round_ = 0;
};

void await(const std::atomic<int>& count, int wanted) {
  while (count.load() < wanted) std::this_thread::yield();
}

class ExposedScatter : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  }
};

constexpr std::size_t enough = std::size_t{8} << 20;

TEST_P(ExposedScatter, EachReaderGetsItsOwn) {
  SharedMemory memory(GetParam(), enough);
  Ranks all(GetParam(), 2);
  all.run([&](WatchedMachine& m) {
    ScatteringRank rank(m, memory);
    for (int turn = 0; turn < 6; ++turn) {
      for (const std::size_t count : {64, 9000, 70'000}) rank.start(count);
      rank.complete_all();
    }
  });
}

// They may be in the host, and wait there for what the root sends when its scatter is complete.
TEST_P(ExposedScatter, TheRootNeedsNoReader) {
  for (const std::size_t each : {enough, std::size_t{40} << 10}) {  // or in the root's own memory
    SharedMemory memory(GetParam(), each);
    Ranks all(GetParam(), 2);
    std::atomic<int> started = 0, root_is_done = 0;
    all.run([&](WatchedMachine& m) {
      ScatteringRank rank(m, memory);
      for (const std::size_t count : {64, 9000, 70'000}) rank.start(count);
      ++started;
      if (m.rank() > 0) await(root_is_done, 1);
      rank.complete_all();
      root_is_done = 1;
    });
    EXPECT_EQ(started, GetParam());
  }
}

TEST_P(ExposedScatter, TheReadersNeedNoRoot) {
  SharedMemory memory(GetParam(), enough);
  Ranks all(GetParam(), 2);
  std::atomic<int> done = 0;
  all.run([&](WatchedMachine& m) {
    ScatteringRank rank(m, memory);
    for (const std::size_t count : {64, 9000}) rank.start(count);
    if (m.rank() == 0) await(done, m.size() - 1);
    rank.complete_all();
    ++done;
  });
}

// The system has let them read when they met, and does not any more.
TEST_P(ExposedScatter, WhoMayNotReadGetsACopy) {
  std::atomic<std::uint32_t> refusals{0};
  memory::read_refusals::share(&refusals);
  SharedMemory memory(GetParam(), enough);
  Ranks all(GetParam(), 2);
  std::atomic<int> started = 0;
  all.run([&](WatchedMachine& m) {
    ScatteringRank rank(m, memory);
    for (const std::size_t count : {64, 9000}) rank.start(count);
    ++started;
    await(started, m.size());
    if (m.rank() == 1) memory::read_refusals::note(memory::read_refusals::Way::kernel, getpid(), EPERM);
    rank.complete_all();
  });
  memory::read_refusals::share(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExposedScatter, ::testing::Values(3, 5));

}  // namespace
}  // namespace espalier::collective
