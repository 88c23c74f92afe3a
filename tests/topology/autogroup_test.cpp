#include "topology/autogroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "topology/cgroup.hpp"

namespace espalier::topology {
namespace {

// A made-up file system of a process in session group 77.
class Autogroup : public testing::Test {
 protected:
  Autogroup() : root_(testing::TempDir() + "espalier_autogroup" + std::to_string(getpid())) {
    write("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
    write("/proc/self/autogroup", "/autogroup-77 nice 0\n");
  }
  ~Autogroup() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content;
  }
  void cgroup(const std::string& line, const std::string& mounts) {
    write("/proc/self/cgroup", line + "\n");
    write("/proc/self/mountinfo", mounts + "\n");
  }

  std::string root_;
};

TEST_F(Autogroup, IsTheSessionsGroup) { EXPECT_EQ(autogroup(root_), "/autogroup-77"); }

TEST_F(Autogroup, IsNoneWhereSwitchedOffOrNotBuiltIn) {
  write("/proc/sys/kernel/sched_autogroup_enabled", "0\n");
  EXPECT_EQ(autogroup(root_), "");
  std::filesystem::remove(root_ + "/proc/sys/kernel/sched_autogroup_enabled");
  EXPECT_EQ(autogroup(root_), "");
}

TEST_F(Autogroup, IsOverruledByACpuGroupOfVersionTwo) {
  cgroup("0::/job", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
  EXPECT_FALSE(in_cpu_cgroup(root_)) << "the controller is off in this group";
  EXPECT_EQ(autogroup(root_), "/autogroup-77");
  write("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_TRUE(in_cpu_cgroup(root_));
  EXPECT_EQ(autogroup(root_), "");
}

TEST_F(Autogroup, IsOverruledByACpuGroupOfVersionOne) {
  const std::string mounted = " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu";
  cgroup("4:cpu:/\n3:memory:/job", "32 22 0:28 /" + mounted);
  EXPECT_EQ(autogroup(root_), "/autogroup-77");
  cgroup("4:cpu:/job", "32 22 0:28 /" + mounted);
  EXPECT_EQ(autogroup(root_), "");
  cgroup("4:cpu:/docker/abc", "32 22 0:28 /docker/abc" + mounted);
  EXPECT_EQ(autogroup(root_), "") << "a container";
}

}  // namespace
}  // namespace espalier::topology
