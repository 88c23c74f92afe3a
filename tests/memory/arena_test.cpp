#include "memory/arena.hpp"

#include <signal.h>

#include <cstring>
#include <random>

#include "tests/memory/children.hpp"
#include "tests/memory/faults.hpp"

namespace espalier::memory {
namespace {

using testing::end_of;
using testing::fork_child;

constexpr std::size_t mebi = 1 << 20;

/// One arena, founded in one mapping and joined in another, as two processes would have it.
class Arenas : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    Segment segment = Segment::create_memfd(bytes, why);
    ASSERT_TRUE(segment) << why;
    descriptor = dup(segment.descriptor());
    first = Arena::found(std::move(segment), notes, why);
    ASSERT_TRUE(first) << why;
    second = Arena::join(Segment::adopt(Descriptor(dup(descriptor)), bytes, why), notes, why);
    ASSERT_TRUE(second) << why;
  }
  void TearDown() override { close(descriptor); }

  static constexpr std::size_t bytes = 16 * mebi;
  static constexpr std::size_t notes = 100000;
  int descriptor = -1;
  std::unique_ptr<Arena> first, second;
};

TEST_F(Arenas, TwoProcessesSeeTheSame) {
  const Share a = first->allocate(3 * mebi);
  const Share b = second->allocate(1);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(b.offset >= a.offset + a.bytes || a.offset >= b.offset + Arena::least_unit);
  EXPECT_EQ(first->used(), 3 * mebi + Arena::least_unit);
  EXPECT_EQ(second->used(), first->used());
  EXPECT_EQ(second->budget(), first->budget());
  ASSERT_TRUE(first->reserve(a, 0, a.bytes));
  std::memset(first->at(a.offset), 9, a.bytes);
  EXPECT_EQ(second->at(a.offset)[a.bytes - 1], std::byte{9});
  second->free(a);
  first->free(b);
  EXPECT_EQ(first->used(), 0u);
}

TEST_F(Arenas, PagesMappedAtOnceAreNotFaultedInOneByOne) {
  if (!testing::maps_pages_on_demand(second->at(0))) GTEST_SKIP() << "this kernel maps no pages on demand";
  const Share share = first->allocate(4 * mebi);
  ASSERT_TRUE(share && first->reserve(share, 0, share.bytes));
  std::memset(first->at(share.offset), 7, share.bytes);
  second->map_now(share, mebi, mebi, Arena::Use::reading);
  second->map_now(share, 2 * mebi, mebi, Arena::Use::writing);
  std::byte* there = second->at(share.offset);
  long wrong = 0;
  const auto read = [&] {
    for (std::size_t i = mebi; i < 3 * mebi; i += 4096) wrong += there[i] != std::byte{7};
  };
  const auto write = [&] {
    for (std::size_t i = 2 * mebi; i < 3 * mebi; i += 4096) there[i] = std::byte{8};
  };
  EXPECT_LT(testing::faults_of(read), 100);
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(testing::faults_of(write), 100);
}

TEST_F(Arenas, NotesAreApartFromShares) {
  EXPECT_GE(first->notes_capacity(), notes);
  std::memset(first->notes(), 0x55, first->notes_capacity());
  EXPECT_EQ(second->notes()[notes - 1], std::byte{0x55});
  Share share;
  while (const Share more = second->allocate(mebi)) {
    share = more;
    ASSERT_TRUE(second->reserve(more, 0, mebi));
    std::memset(second->at(more.offset), 0xff, mebi);
  }
  EXPECT_EQ(first->notes()[0], std::byte{0x55});
  EXPECT_EQ(first->notes()[first->notes_capacity() - 1], std::byte{0x55});
  first->free(share);  // the header is whole, too
  EXPECT_EQ(first->allocate(mebi).offset, share.offset);
}

TEST_F(Arenas, SpentBudgetIsNoShareAndComesBack) {
  std::vector<Share> shares;
  while (const Share share = first->allocate(Arena::least_unit)) shares.push_back(share);
  EXPECT_EQ(shares.size(), first->budget() / Arena::least_unit);
  EXPECT_EQ(first->used(), first->budget());
  EXPECT_FALSE(second->allocate(1));
  // Every other one: plenty of space, but none for two in a row.
  for (std::size_t i = 0; i < shares.size(); i += 2) second->free(shares[i]);
  EXPECT_FALSE(first->allocate(Arena::least_unit + 1));
  EXPECT_TRUE(first->allocate(Arena::least_unit));
  EXPECT_FALSE(first->allocate(first->budget() + 1));
}

TEST_F(Arenas, SharesNeverOverlapOverTenThousandCycles) {
  std::mt19937 random(7);
  std::vector<Share> held;
  std::vector<char> taken(bytes / Arena::least_unit, 0);
  const auto mark = [&](const Share& share, char value) {
    for (std::size_t u = share.offset / Arena::least_unit;
         u < (share.offset + share.bytes + Arena::least_unit - 1) / Arena::least_unit; ++u) {
      ASSERT_NE(taken.at(u), value);
      taken[u] = value;
    }
  };
  const std::size_t at_start = first->used();
  for (int i = 0; i < 10000; ++i) {
    Arena& arena = i % 2 ? *first : *second;
    if (const Share share = arena.allocate(1 + random() % (2 * mebi))) {
      EXPECT_EQ(share.offset % Arena::least_unit, 0u);
      EXPECT_LE(share.offset + share.bytes, bytes);
      mark(share, 1);
      held.push_back(share);
    }
    if (held.size() > 6 || (!held.empty() && random() % 2)) {
      const std::size_t k = random() % held.size();
      mark(held[k], 0);
      arena.free(held[k]);
      held.erase(held.begin() + static_cast<long>(k));
    }
  }
  for (const Share& share : held) first->free(share);
  EXPECT_EQ(first->used(), at_start);
}

// Whatever the moment at which a process dies, also inside the lock, the others go on.
TEST_F(Arenas, KilledProcessDoesNotBlockTheOthers) {
  for (int i = 0; i < 50; ++i) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork_child([&]() -> int {
      std::string why;
      const auto arena = Arena::join(Segment::adopt(Descriptor(descriptor), bytes, why), notes, why);
      if (write(ready[1], "r", 1) != 1) return 1;
      for (;;) arena->free(arena->allocate(Arena::least_unit));
    });
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    usleep(200 + static_cast<useconds_t>(i) * 37);
    kill(child, SIGKILL);
    EXPECT_EQ(end_of(child), -SIGKILL);
    close(ready[0]);
    close(ready[1]);
    const Share share = first->allocate(Arena::least_unit);
    ASSERT_TRUE(share) << "after kill " << i;
    second->free(share);
  }
  // A dead process may have kept a unit each time, no more.
  EXPECT_LE(first->used(), 50 * Arena::least_unit);
}

TEST(Arena, TooSmallSegmentIsRefusedWithTheLeastSize) {
  std::string why;
  EXPECT_FALSE(Arena::found(Segment::create_memfd(Arena::least_unit, why), 100, why));
  EXPECT_NE(why.find("8192"), std::string::npos) << why;
  EXPECT_TRUE(Arena::found(Segment::create_memfd(2 * Arena::least_unit, why), 100, why));
}

TEST(Arena, JoinRefusesWhatIsNoArena) {
  std::string why;
  EXPECT_FALSE(Arena::join(Segment::create_memfd(mebi, why), 100, why));
  EXPECT_NE(why.find("another version"), std::string::npos) << why;
  EXPECT_FALSE(Arena::join(Segment::create_memfd(Arena::least_unit, why), 100, why));
}

TEST_F(Arenas, JoinRefusesAHeaderThatSaysAnythingElse) {
  std::string why;
  const auto join = [&](std::size_t notes_bytes) {
    return Arena::join(Segment::adopt(Descriptor(dup(descriptor)), bytes, why), notes_bytes, why);
  };
  EXPECT_TRUE(join(notes)) << why;
  EXPECT_FALSE(join(notes + 1));
  auto* header = reinterpret_cast<std::uint64_t*>(first->at(0));
  for (const std::size_t word : {0, 1, 2, 3, 4}) {  // magic, version, units, first unit, notes
    const std::uint64_t kept = header[word];
    header[word] = ~kept;
    EXPECT_FALSE(join(notes)) << word;
    header[word] = kept;
  }
  EXPECT_TRUE(join(notes)) << why;
}

TEST_F(Arenas, AHeaderThatChangesLaterMovesNothing) {
  auto* header = reinterpret_cast<std::uint64_t*>(first->at(0));
  const std::byte* const place = second->notes();
  const std::size_t budget = second->budget();
  header[2] = header[3] = header[4] = ~std::uint64_t{0};
  EXPECT_EQ(second->notes(), place);
  EXPECT_EQ(second->budget(), budget);
  EXPECT_FALSE(second->allocate(bytes));
  const Share share = second->allocate(Arena::least_unit);
  EXPECT_TRUE(second->holds(share));
  second->free(share);
}

TEST_F(Arenas, NothingIsDoneWithASharePastTheEnd) {
  const Share share = first->allocate(2 * Arena::least_unit);
  EXPECT_TRUE(first->reserve(share, Arena::least_unit, Arena::least_unit));
  EXPECT_FALSE(first->reserve(share, Arena::least_unit, Arena::least_unit + 1));
  EXPECT_FALSE(first->reserve(share, SIZE_MAX, 2));
  const std::size_t used = first->used();
  for (const Share wrong :
       {Share{1, Arena::least_unit}, Share{share.offset + 1, Arena::least_unit}, Share{share.offset, bytes},
        Share{SIZE_MAX - Arena::least_unit + 1, Arena::least_unit}, Share{share.offset, SIZE_MAX}}) {
    EXPECT_FALSE(first->holds(wrong)) << wrong.offset;
    EXPECT_FALSE(first->reserve(wrong, 0, 1)) << wrong.offset;
    first->free(wrong);
  }
  EXPECT_EQ(first->used(), used);
}

}  // namespace
}  // namespace espalier::memory
