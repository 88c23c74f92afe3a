// The reader of /sys on made-up trees of files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "topology/without_hwloc.hpp"

namespace espalier::topology {
namespace {

// A folder like /sys/devices/system, removed with the object.
class Files {
 public:
  Files() {
    std::string name = testing::TempDir() + "espalier-sysXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { std::filesystem::remove_all(folder_); }

  void add(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text << "\n";
  }

  void add_cache(int cpu, int index, const char* level, const char* type, const std::string& shared) {
    const std::string cache = "cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    add(cache + "level", level);
    add(cache + "type", type);
    add(cache + "shared_cpu_list", shared);
  }

  std::string read() const {
    const auto machine = read_sysfs(folder_);
    return machine ? print({*machine, ""}) : "nothing";
  }

 private:
  std::filesystem::path folder_;
};

// Two packages of two cores with two threads each, numbered as Linux does on many machines: the second
// threads of all cores come after the first.
struct TwoPackages : Files {
  explicit TwoPackages(const char* core = "core_cpus_list", const char* package = "package_cpus_list") {
    add("cpu/online", "0-7");
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string topology = "cpu/cpu" + std::to_string(cpu) + "/topology/";
      const std::string pair = std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4);
      const std::string four = cpu % 4 < 2 ? "0-1,4-5" : "2-3,6-7";
      add(topology + core, pair);
      add(topology + package, four);
      add_cache(cpu, 0, "1", "Data", pair);
      add_cache(cpu, 1, "1", "Instruction", pair);
      add_cache(cpu, 2, "2", "Unified", pair);
      add_cache(cpu, 3, "3", "Unified", four);
    }
    add("node/online", "0-1");
    add("node/node0/cpulist", "0-1,4-5");
    add("node/node1/cpulist", "2-3,6-7");
  }
};

const std::string two_packages_text =
    "(machine 0-7 "
    "(package 0-1,4-5 (numa 0-1,4-5 (l3 0-1,4-5 (l2 0,4 (core 0,4)) (l2 1,5 (core 1,5))))) "
    "(package 2-3,6-7 (numa 2-3,6-7 (l3 2-3,6-7 (l2 2,6 (core 2,6)) (l2 3,7 (core 3,7))))))";

TEST(Sysfs, PackagesNodesCachesAndCores) { EXPECT_EQ(TwoPackages().read(), two_packages_text); }

TEST(Sysfs, NamesOfOldKernels) {
  EXPECT_EQ(TwoPackages("thread_siblings_list", "core_siblings_list").read(), two_packages_text);
}

TEST(Sysfs, CpusThatAreOffline) {
  TwoPackages files;
  files.add("cpu/online", "0-2,6");
  EXPECT_EQ(files.read(),
            "(machine 0-2,6 (package 0-1 (numa 0-1 (l3 0-1 (l2 0 (core 0)) (l2 1 (core 1))))) "
            "(package 2,6 (numa 2,6 (l3 2,6 (l2 2,6 (core 2,6))))))");
}

TEST(Sysfs, MemoryWithoutCpusIsNoDomain) {
  TwoPackages files;
  files.add("node/online", "0-2");
  files.add("node/node2/cpulist", "");
  EXPECT_EQ(files.read(), two_packages_text);
}

TEST(Sysfs, ALevelWithoutFilesIsLeftOut) {
  Files files;
  files.add("cpu/online", "0-1");
  EXPECT_EQ(files.read(), "(machine 0-1 (numa 0-1))");
  files.add("cpu/cpu0/topology/core_cpus_list", "0");
  files.add("cpu/cpu1/topology/core_cpus_list", "1");
  EXPECT_EQ(files.read(), "(machine 0-1 (numa 0-1 (core 0) (core 1)))");
}

TEST(Sysfs, InstructionCachesAreNotShared) {
  Files files;
  files.add("cpu/online", "0-1");
  for (int cpu = 0; cpu < 2; ++cpu) {
    files.add_cache(cpu, 0, "2", "Instruction", "0-1");
    files.add_cache(cpu, 1, "2", "Data", std::to_string(cpu));
  }
  EXPECT_EQ(files.read(), "(machine 0-1 (numa 0-1 (l2 0) (l2 1)))");
}

TEST(Sysfs, WhatIsNoListCountsAsMissing) {
  Files files;
  EXPECT_EQ(files.read(), "nothing");
  files.add("cpu/online", "all of them");
  EXPECT_EQ(files.read(), "nothing");
  files.add("cpu/online", "0-1");
  files.add("cpu/cpu0/topology/core_cpus_list", "0-");
  files.add("cpu/cpu1/topology/core_cpus_list", "0");  // not of this CPU
  EXPECT_EQ(files.read(), "(machine 0-1 (numa 0-1))");
}

}  // namespace
}  // namespace espalier::topology
