#include "runtime/host_windows.hpp"

#include <gtest/gtest.h>

namespace espalier::runtime {
namespace {

TEST(HostWindows, OneThatWasNotCountedTakesNoOtherAway) {
  host_windows = 0;
  remove_host_window();
  add_host_window();
  EXPECT_EQ(host_windows, 1);
  add_host_window();
  remove_host_window();
  remove_host_window();
  EXPECT_EQ(host_windows, 0);
}

}  // namespace
}  // namespace espalier::runtime
