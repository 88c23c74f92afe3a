#include "topology/cpu_budget.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "topology/cgroup.hpp"
#include "topology/discover.hpp"

namespace espalier::topology {
namespace {

// A made-up file system with the files that tell of control groups.
class CgroupTest : public testing::Test {
 protected:
  CgroupTest() : root_(testing::TempDir() + "espalier_cgroup" + std::to_string(getpid())) {}
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content;
  }

  void v2(const std::string& group, const std::string& mounted = "/") {
    write("/proc/self/cgroup", "0::" + group + "\n");
    write("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:26 " + mounted +
                                      " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  void v1(const std::string& group, const std::string& mounted) {
    write("/proc/self/cgroup", "5:cpuset:/set\n4:cpu,cpuacct:" + group + "\n0::/\n");
    write("/proc/self/mountinfo",
          "31 22 0:27 /set /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n32 22 0:28 " + mounted +
              " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }

  CpuQuota quota() const { return cgroup_quota(root_); }

  std::string root_;
};

TEST_F(CgroupTest, WithoutFilesThereIsNoQuota) {
  EXPECT_FALSE(quota().limited());
  EXPECT_TRUE(std::isinf(quota().cpus));
}

TEST_F(CgroupTest, ReadsTheQuotaOfVersionTwo) {
  v2("/job");
  write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 1.5);
  EXPECT_EQ(quota().file, root_ + "/sys/fs/cgroup/job/cpu.max");
}

TEST_F(CgroupTest, TheTightestAncestorCounts) {
  v2("/slice/job/step");
  write("/sys/fs/cgroup/cpu.max", "800000 100000\n");
  write("/sys/fs/cgroup/slice/cpu.max", "200000 100000\n");
  write("/sys/fs/cgroup/slice/job/cpu.max", "300000 100000\n");
  write("/sys/fs/cgroup/slice/job/step/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 2.0);
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 0.5);
}

TEST_F(CgroupTest, NoQuotaAndNonsenseLimitNothing) {
  v2("/job");
  for (const char* content : {"max 100000\n", "", "fast\n", "100000\n", "100000 0\n", "-1 100000\n"}) {
    write("/sys/fs/cgroup/job/cpu.max", content);
    EXPECT_FALSE(quota().limited()) << content;
  }
}

TEST_F(CgroupTest, InAContainerTheMountIsTheGroup) {
  v2("/docker/abc", "/docker/abc");
  write("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 4.0);
  v2("/../../elsewhere", "/");
  EXPECT_DOUBLE_EQ(quota().cpus, 4.0);
  v2("/docker/abcdef", "/docker/abc");  // not below it, in spite of how it begins
  write("/sys/fs/cgroupdef/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 4.0);
}

TEST_F(CgroupTest, ReadsTheQuotaOfVersionOne) {
  v1("/docker/abc/step", "/docker/abc");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/step/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/step/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 2.5);
  write("/sys/fs/cgroup/cpu,cpuacct/step/cpu.cfs_quota_us", "5000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/step/cpu.cfs_period_us", "10000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 0.5);
}

TEST_F(CgroupTest, MountPointsMayHaveBlanks) {
  write("/proc/self/cgroup", "0::/\n");
  write("/proc/self/mountinfo", "30 22 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  write("/my groups/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 1.0);
}

TEST_F(CgroupTest, TheBudgetCountsCoresOnceAndSaysWhatLimits) {
  Topology power9 = discover(Source::synthetic("package:2 core:22 pu:4"));
  std::vector<CpuSet> affinity = {{0}, {1}, {4, 5}, {4, 5, 6, 7}};
  CpuBudget budget = cpu_budget(power9, affinity, root_);
  EXPECT_EQ(budget.cores, 2);
  EXPECT_DOUBLE_EQ(budget.usable(), 2.0);
  EXPECT_EQ(budget.explanation, "4 ranks may run on 2 cores (CPUs 0-1,4-7)");
  v2("/job");
  write("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  budget = cpu_budget(power9, affinity, root_);
  EXPECT_EQ(budget.cores, 2);
  EXPECT_DOUBLE_EQ(budget.usable(), 1.5);
  EXPECT_EQ(budget.explanation,
            "4 ranks may run on 2 cores (CPUs 0-1,4-7) and " + root_ +
                "/sys/fs/cgroup/job/cpu.max allows 1.5 CPUs' worth of time, which is less");
}

TEST_F(CgroupTest, CpusOfNoKnownCoreCountOneByOne) {
  Topology flat{{Level::machine, {0}, {}}, "flat"};
  EXPECT_EQ(cpu_budget(flat, std::vector<CpuSet>{{0}, {1}, {1, 2}}, root_).cores, 3);
  EXPECT_EQ(cpu_budget(flat, std::vector<CpuSet>{{}}, root_).cores, 1);
}

TEST(SpareCpus, ThoseOfTheInnermostDomainComeFirst) {
  const Topology machine = discover(Source::synthetic("package:2 l3:2 core:2 pu:2"));  // CPUs 0-7 and 8-15
  const CpuSet used = {0, 1, 4, 12};
  const std::vector<CpuSet> wanted = {{2, 3}, {6, 7}, {8, 9, 10, 11, 14, 15}};
  EXPECT_EQ(spare_cpus(machine, used, {0, 1}), wanted);
}

TEST(SpareCpus, ACoreOfWhichARankUsesAThreadIsNotSpare) {
  const Topology machine = discover(Source::synthetic("package:1 core:2 pu:2"));
  EXPECT_EQ(spare_cpus(machine, {0}, {0}), std::vector<CpuSet>({{2, 3}}));
  EXPECT_TRUE(spare_cpus(machine, {0, 2}, {0}).empty());
}

TEST(SpareCpus, OfNoKnownCore) {
  const Topology flat{{Level::machine, {0, 1, 2}, {}}, "flat"};
  EXPECT_EQ(spare_cpus(flat, {1}, {1}), std::vector<CpuSet>({{0, 2}}));
}

TEST(CpuBudget, OfThisMachineIsPlausible) {
  CpuBudget budget = cpu_budget(discover(Source::this_machine()), std::vector{current_affinity()});
  EXPECT_GE(budget.cores, 1);
  EXPECT_LE(budget.cores, current_affinity().count());
  EXPECT_GT(budget.usable(), 0.0);
}

}  // namespace
}  // namespace espalier::topology
