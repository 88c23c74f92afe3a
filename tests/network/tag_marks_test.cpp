#include "network/tag_marks.hpp"

#include <gtest/gtest.h>

#include <climits>

namespace espalier::network {
namespace {

TEST(TagMarks, FewTagsHaveNone) {
  for (const int tags : {0, 32768, 1 << 21, (1 << 22) - 1}) {
    const TagMarks marks = TagMarks::among(tags);
    EXPECT_EQ(marks.below(tags), tags);
    EXPECT_EQ(marks.of(0xFFFFFFFF), 0);
  }
}

TEST(TagMarks, StayBelowTheHighestTag) {
  for (const int tags : {1 << 22, (1 << 22) + 1, 1 << 28, 1 << 29, (1 << 30) - 1, INT_MAX}) {
    const TagMarks marks = TagMarks::among(tags);
    EXPECT_EQ(marks.below(tags), 1 << TagMarks::low_bits);
    EXPECT_LT(marks.of(0xFFFFFFFF) + (marks.below(tags) - 1), tags);
    EXPECT_GE(marks.bits, TagMarks::fewest_bits);
    EXPECT_NE(marks.of(1), marks.of(2));
    EXPECT_EQ(marks.of(1) % marks.below(tags), 0) << "beside the tags of communicators";
  }
}

}  // namespace
}  // namespace espalier::network
