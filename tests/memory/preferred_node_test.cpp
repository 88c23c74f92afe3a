#include "memory/preferred_node.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace espalier::memory {
namespace {

int policy_now() {
  int policy = -1;
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL) == 0 ? policy : -1;
}

TEST(PreferredNode, IsThePolicyWhileItLives) {
  if (policy_now() != 0) GTEST_SKIP() << "this thread has a memory policy, or the system refuses to say";
  {
    const PreferredNode node(0);
    EXPECT_EQ(policy_now(), 1);
    const PreferredNode inner(0);  // leaves a policy that is there alone
    EXPECT_EQ(policy_now(), 1);
  }
  EXPECT_EQ(policy_now(), 0);
}

TEST(PreferredNode, AnUnknownNodeChangesNothing) {
  const int before = policy_now();
  const PreferredNode unknown(-1), beyond(64);
  EXPECT_EQ(policy_now(), before);
}

TEST(PreferredNode, OnOneNodeThereIsNothingToPrefer) {
  if (access("/sys/devices/system/node/node1", F_OK) == 0) {
    EXPECT_GE(numa_node_of(0), 0);
  } else {
    EXPECT_EQ(numa_node_of(0), -1);
  }
  EXPECT_EQ(numa_node_of(1 << 20), -1);
}

}  // namespace
}  // namespace espalier::memory
