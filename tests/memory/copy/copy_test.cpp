#include "memory/copy/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace espalier::memory {
namespace {

constexpr std::size_t page_bytes = 4096;

const std::byte* address(std::size_t value) { return reinterpret_cast<const std::byte*>(value); }

TEST(CopyCloseBehind, IsUpToFifteenBytesInThePage) {
  const std::byte* source = address(7 * page_bytes + 100);
  EXPECT_FALSE(close_behind(source, source));
  EXPECT_TRUE(close_behind(source + 1, source));
  EXPECT_TRUE(close_behind(source + 15, source));
  EXPECT_FALSE(close_behind(source + 16, source));
  EXPECT_FALSE(close_behind(source - 1, source));
  EXPECT_TRUE(close_behind(source + 5 * page_bytes + 8, source));
  EXPECT_TRUE(close_behind(source - 5 * page_bytes + 8, source));
  EXPECT_TRUE(close_behind(address(8 * page_bytes + 4),
                           address(3 * page_bytes + page_bytes - 4)));  // around the page's end
}

// All lengths around the pieces, from and to all places around a line and a page's border.
TEST(Copy, TakesAllBytesAndNoOthers) {
  std::vector<std::byte> from(4 * page_bytes + 64), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(static_cast<unsigned char>(1 + i % 251));
  const std::byte untouched{0};
  for (const std::size_t source : {0u, 1u, 60u, 4090u})
    for (const std::size_t behind : {0u, 1u, 8u, 15u, 16u, 64u, 4080u})
      for (const std::size_t bytes :
           {0u, 1u, 3u, 4u, 7u, 8u, 9u, 15u, 16u, 17u, 2047u, 2048u, 2049u, 4096u, 6144u, 6145u, 8000u}) {
        const std::size_t target = (source + behind) % page_bytes;
        std::fill(to.begin(), to.end(), untouched);
        memory::copy(to.data() + target, from.data() + source, bytes);
        const auto begin = to.begin() + static_cast<std::ptrdiff_t>(target);
        const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
        ASSERT_TRUE(std::equal(begin, end, from.begin() + static_cast<std::ptrdiff_t>(source)))
            << bytes << " bytes, " << behind << " behind";
        ASSERT_TRUE(std::all_of(to.begin(), begin, [&](std::byte b) { return b == untouched; }));
        ASSERT_TRUE(std::all_of(end, to.end(), [&](std::byte b) { return b == untouched; }));
      }
}

TEST(Copy, TakesAllBytesOfLongOnes) {
  std::vector<std::byte> from(string_copies_from + 3 * string_piece), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(static_cast<unsigned char>(1 + i % 251));
  for (const std::size_t bytes :
       {string_copies_from, string_copies_from + 1, string_copies_from + string_piece,
        string_copies_from + string_piece + 17}) {
    std::fill(to.begin(), to.end(), std::byte{0});
    memory::copy(to.data(), from.data(), bytes);
    const auto end = static_cast<std::ptrdiff_t>(bytes);
    EXPECT_TRUE(std::equal(to.begin(), to.begin() + end, from.begin())) << bytes;
    EXPECT_TRUE(std::all_of(to.begin() + end, to.end(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

}  // namespace
}  // namespace espalier::memory
