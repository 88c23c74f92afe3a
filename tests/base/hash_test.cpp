#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace espalier {
namespace {

// The test vectors of FNV-1a: ranks with different builds must agree.
TEST(Hash, IsFnv1a) {
  EXPECT_EQ(hash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(hash("bar", hash("foo")), hash("foobar"));
}

}  // namespace
}  // namespace espalier
