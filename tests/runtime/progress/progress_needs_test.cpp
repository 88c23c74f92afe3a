#include "runtime/progress/progress_needs.hpp"

#include <gtest/gtest.h>

namespace espalier::runtime {
namespace {

TEST(ProgressNeeds, AWindowThatWasNotCountedTakesNothingAway) {
  const int before = progress_needs;
  remove_host_window();
  add_host_window();
  EXPECT_EQ(progress_needs, before + 1);
  add_host_window();
  remove_host_window();
  remove_host_window();
  EXPECT_EQ(host_windows, 0);
  EXPECT_EQ(progress_needs, before);
  add_progress_need();
  remove_host_window();
  EXPECT_EQ(progress_needs, before + 1) << "a message's";
  remove_progress_need();
}

}  // namespace
}  // namespace espalier::runtime
