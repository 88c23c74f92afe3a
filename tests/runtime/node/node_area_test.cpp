#include "runtime/node/node_area.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace espalier::runtime {
namespace {

/// A rank that is not the root, of a node whose other ranks do nothing.
struct Reader {
  int rank() const { return 1; }
  std::array<int, 0> other_ranks() const { return {}; }
  void await_finish(int, memory::Step) const {}
};

std::unique_ptr<memory::Arena> arena_of(std::size_t bytes) {
  std::string why;
  memory::Segment segment = memory::Segment::create_memfd(bytes, why);
  return segment ? memory::Arena::found(std::move(segment), 1 << 16, why) : nullptr;
}

// What the root tells comes from another process: it is looked at before it becomes an address.
TEST(NodeArea, RefusesWhatDoesNotLieInTheArena) {
  constexpr std::size_t bytes = 1 << 20;
  const auto arena = arena_of(16 << 20);
  ASSERT_TRUE(arena);
  const memory::Share share = arena->allocate(bytes);
  ASSERT_TRUE(share);
  Reader machine;
  for (const std::uint64_t offset : {std::uint64_t{1}, share.offset + 1, std::uint64_t{16} << 20,
                                     std::uint64_t{1} << 40, ~std::uint64_t{0} - bytes / 2}) {
    NodeArea area;
    EXPECT_THROW(area.grow(machine, *arena, bytes,
                           [&](void* told, std::size_t some) { std::memcpy(told, &offset, some); }),
                 Error)
        << offset;
    EXPECT_EQ(area.area.memory, nullptr);
  }
  NodeArea area;
  EXPECT_TRUE(area.grow(machine, *arena, bytes,
                        [&](void* told, std::size_t some) { std::memcpy(told, &share.offset, some); }));
  EXPECT_EQ(area.area.memory, arena->at(share.offset));
}

}  // namespace
}  // namespace espalier::runtime
