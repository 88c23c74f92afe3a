#include "base/numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace espalier {
namespace {

TEST(Numbers, WholeWordsAreRead) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-7"), -7);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
}

TEST(Numbers, AnythingElseIsNone) {
  for (const char* word : {"", " 1", "1 ", "1x", "x", "+1", "0x10", "1.5", "99999999999"})
    EXPECT_EQ(parse_number<int>(word), std::nullopt) << word;
  EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace espalier
