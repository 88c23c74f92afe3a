#include "runtime/progress/missed_tests.hpp"

#include <gtest/gtest.h>

namespace espalier::runtime::asking {
namespace {

TEST(Asking, ACollectiveMakesTheNextTestDue) {
  state = 0;
  EXPECT_TRUE(is_plain());
  note_collective();
  note_collective();
  EXPECT_TRUE(is_due());
  EXPECT_FALSE(is_plain());
  EXPECT_FALSE(has_requests());
  forget_collectives();
  EXPECT_TRUE(is_plain());
}

TEST(Asking, RequestsAreCountedBesideIt) {
  state = 0;
  add_request();
  EXPECT_TRUE(has_requests());
  EXPECT_FALSE(is_due());
  note_collective();
  add_request();
  forget_collectives();
  EXPECT_TRUE(has_requests());
  remove_request();
  remove_request();
  EXPECT_TRUE(is_plain());
}

}  // namespace
}  // namespace espalier::runtime::asking
