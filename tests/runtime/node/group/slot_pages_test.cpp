#include "runtime/node/group/slot_pages.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/memory/faults.hpp"

namespace espalier::runtime {
namespace {

TEST(SlotPages, AreMappedOfFewRanks) {
  machine::Layout layout;
  layout.ranks = 16;
  EXPECT_TRUE(should_map_slots(layout));
  layout.ranks = 64;
  EXPECT_FALSE(should_map_slots(layout));
}

// A share's ring and cells in two mappings, as two processes have them: one backs it, the other maps it.
class SlotPagesOf : public ::testing::TestWithParam<int> {};

TEST_P(SlotPagesOf, AreNotFaultedInOneByOne) {
  machine::Layout layout;
  layout.ranks = GetParam();
  layout.many_pairwise = true;
  std::string why;
  memory::Segment segment = memory::Segment::create_memfd(std::size_t{16} << 20, why);
  ASSERT_TRUE(segment) << why;
  const int descriptor = dup(segment.descriptor());
  const auto owner = memory::Arena::found(std::move(segment), 4096, why);
  ASSERT_TRUE(owner) << why;
  const auto arena = memory::Arena::join(
      memory::Segment::adopt(Descriptor(descriptor), std::size_t{16} << 20, why), 4096, why);
  ASSERT_TRUE(arena) << why;
  if (!testing::maps_pages_on_demand(arena->at(0))) GTEST_SKIP() << "this kernel maps no pages on demand";
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory is faulted in, too";
#endif
  const memory::Share share = owner->allocate(layout.bytes());
  ASSERT_TRUE(share && owner->reserve(share, 0, layout.bytes()));

  const int rank = 1;
  map_slots(*arena, share, layout, rank);
  std::byte* base = arena->at(share.offset);
  int seen = 0;
  const auto touch = [&](std::size_t begin, std::size_t bytes, bool write) {
    for (std::size_t i = begin; i < begin + bytes; i += machine::Layout::page)
      write ? void(base[i] = std::byte{1}) : void(seen += base[i] == std::byte{1});
  };
  const std::size_t cell = static_cast<std::size_t>(layout.pairwise_rounds()) * layout.pairwise_bytes();
  const long faults = testing::faults_of([&] {
    touch(layout.ring(rank), layout.ring_bytes(), true);
    touch(layout.pairwise_area(rank), layout.pairwise_area_bytes(), true);
    for (int peer = 0; peer < layout.ranks; ++peer) {
      if (peer == rank) continue;
      touch(layout.ring(peer), layout.ring_bytes(), false);
      touch(layout.pairwise_cell(peer, rank, 0), cell, true);
    }
  });
  EXPECT_LT(faults, 8);
  EXPECT_EQ(seen, 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, SlotPagesOf, ::testing::Values(2, 4, 16));

}  // namespace
}  // namespace espalier::runtime
