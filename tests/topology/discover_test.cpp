#include "topology/discover.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.hpp"

namespace espalier::topology {
namespace {

// Sets an environment variable for the time of a test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

int count(const Domain& domain, Level level) {
  int total = domain.level == level;
  for (const Domain& child : domain.children) total += count(child, level);
  return total;
}

void expect_nested(const Domain& domain) {
  CpuSet seen;
  for (const Domain& child : domain.children) {
    EXPECT_TRUE(domain.cpus.contains(child.cpus));
    EXPECT_FALSE(seen.intersects(child.cpus));
    EXPECT_FALSE(child.cpus.empty());
    seen |= child.cpus;
    expect_nested(child);
  }
}

std::string error_of(const Source& source, const char* library = hwloc_name) {
  try {
    discover(source, library);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string path_of(const char* name) {
  return testing::TempDir() + "espalier_" + name + std::to_string(getpid());
}

TEST(Discover, FindsThisMachine) {
  Topology machine = discover(Source::this_machine());
  EXPECT_EQ(machine.machine.level, Level::machine);
  EXPECT_TRUE(machine.machine.cpus.contains(current_affinity()));
  EXPECT_GE(count(machine.machine, Level::core), 1);
  expect_nested(machine.machine);
  EXPECT_EQ(machine.source.rfind("this machine, by hwloc API 2.", 0), 0u) << machine.source;
}

TEST(Discover, KnowsNumaDomainsOfASyntheticMachine) {
  // Dual EPYC 7742 (OSMP Fig. 4).
  Topology epyc = discover(Source::synthetic("package:2 numa:4 l3:4 core:4 pu:1"));
  EXPECT_EQ(epyc.machine.cpus, CpuSet::range(0, 127));
  EXPECT_EQ(count(epyc.machine, Level::package), 2);
  EXPECT_EQ(count(epyc.machine, Level::numa), 8);
  EXPECT_EQ(count(epyc.machine, Level::l3), 32);
  EXPECT_EQ(count(epyc.machine, Level::core), 128);
  expect_nested(epyc.machine);
  const Domain& numa = epyc.machine.children[1].children[0];
  EXPECT_EQ(numa.level, Level::numa);
  EXPECT_EQ(numa.cpus, CpuSet::range(64, 79));
}

TEST(Discover, SeesAsManyDomainsAsWritten) {
  for (int packages = 1; packages <= 3; ++packages) {
    for (int l2 = 1; l2 <= 3; ++l2) {
      std::string text =
          "package:" + std::to_string(packages) + " l3:2 l2:" + std::to_string(l2) + " core:2 pu:2";
      Domain machine = discover(Source::synthetic(text)).machine;
      EXPECT_EQ(count(machine, Level::l2), packages * 2 * l2) << text;
      EXPECT_EQ(count(machine, Level::core), packages * 2 * l2 * 2) << text;
      EXPECT_EQ(machine.cpus.count(), packages * 2 * l2 * 4) << text;
    }
  }
}

TEST(Discover, TheXmlOfOneProcessGivesTheOthersTheSameMachine) {
  for (const Source& source :
       {Source::this_machine(), Source::synthetic("package:2 numa:2 l3:1 core:3 pu:2")}) {
    Topology again = discover(Source::xml(export_xml(source)));
    EXPECT_EQ(again.machine, discover(source).machine);
    EXPECT_EQ(again.source.rfind("an XML text, by hwloc", 0), 0u) << again.source;
    EXPECT_EQ(parse_topology(print(again)), again);
  }
}

TEST(Discover, HonoursTheXmlFileOfTheEnvironment) {
  std::string path = path_of("machine.xml");
  std::ofstream(path) << export_xml(Source::synthetic("package:3 core:5 pu:1"));
  Environment file("HWLOC_XMLFILE", path);
  Topology found = discover(Source::this_machine());
  EXPECT_EQ(count(found.machine, Level::core), 15);
  EXPECT_EQ(found.source.rfind("the file " + path + " (HWLOC_XMLFILE)", 0), 0u) << found.source;
  EXPECT_EQ(count(discover(Source::synthetic("core:2 pu:1")).machine, Level::core),
            2);  // is asked for by name
  std::remove(path.c_str());
}

TEST(Discover, HonoursTheSyntheticDescriptionOfTheEnvironment) {
  Environment text("HWLOC_SYNTHETIC", "package:2 core:3 pu:1");
  EXPECT_EQ(count(discover(Source::this_machine()).machine, Level::core), 6);
}

TEST(Discover, SaysWhatIsWrongWithTheXmlFile) {
  {
    Environment file("HWLOC_XMLFILE", "/nonexistent/machine.xml");
    EXPECT_EQ(
        error_of(Source::this_machine()),
        "HWLOC_XMLFILE names /nonexistent/machine.xml, which cannot be read: No such file or directory; give "
        "it a topology in "
        "hwloc's XML or "
        "unset HWLOC_XMLFILE");
  }
  for (const char* content :
       {"", "this is no XML\n", "<?xml version=\"1.0\"?><topology version=\"2.0\"><object"}) {
    std::string path = path_of("broken.xml");
    std::ofstream(path) << content;
    Environment file("HWLOC_XMLFILE", path);
    EXPECT_NE(error_of(Source::this_machine()).find("HWLOC_XMLFILE"), std::string::npos) << content;
    std::remove(path.c_str());
  }
  Environment file("HWLOC_XMLFILE", "/tmp");
  EXPECT_NE(error_of(Source::this_machine()).find("HWLOC_XMLFILE"), std::string::npos);
}

TEST(Discover, SaysWhatIsWrongWithATextItWasGiven) {
  EXPECT_NE(error_of(Source::xml("<nothing>")).find("the XML text is not a topology"), std::string::npos);
  EXPECT_NE(error_of(Source::xml("")).find("the XML text is not a topology"), std::string::npos);
  for (const char* text : {"", "package:", "socks:4", "package:0 pu:1", "core"}) {
    EXPECT_NE(error_of(Source::synthetic(text)).find("the synthetic description \"" + std::string(text)),
              std::string::npos)
        << text;
  }
}

constexpr const char* no_hwloc = "libno-such-hwloc.so.15";

TEST(Discover, WithoutHwlocTheMachineIsReadFromSysAndSaysSo) {
  const Topology by_hwloc = discover(Source::this_machine()),
                 found = discover(Source::this_machine(), no_hwloc);
  EXPECT_EQ(found.machine.cpus, by_hwloc.machine.cpus);
  EXPECT_EQ(count(found.machine, Level::core), count(by_hwloc.machine, Level::core));
  expect_nested(found.machine);
  EXPECT_EQ(found.source.rfind("this machine, by /sys, as hwloc cannot be loaded: libno-such-hwloc.so.15", 0),
            0u)
      << found.source;
  EXPECT_NE(discover(Source::this_machine(), "libm.so.6").source.find("hwloc_get_api_version"),
            std::string::npos);
}

TEST(Discover, WithoutHwlocASyntheticDescriptionGivesTheSameMachine) {
  for (const char* text : {"package:2 numa:4 l3:4 core:4 pu:1", "core:4 pu:1", "package:1 core:3 pu:2",
                           "PACKAGE:2  core:28 pu:1 ", "numa:2 package:2 l3cache:1 l2:2 core:1 pu:4",
                           "socket:2 die:2 l3:3 l2cache:1 l1:1 core:1 pu:1", "pu:3"}) {
    const Topology found = discover(Source::synthetic(text), no_hwloc);
    EXPECT_EQ(print({found.machine, ""}), print({discover(Source::synthetic(text)).machine, ""})) << text;
    EXPECT_NE(found.source.find(", without hwloc"), std::string::npos);
  }
}

TEST(Discover, WithoutHwlocItSaysWhatNeedsIt) {
  for (const char* text : {"2 2", "core:2(indexes=1,0) pu:1", "", "package:", "socks:4", "package:0 pu:1",
                           "core", "core:2", "pu:1 core:2", "core:99999999999 pu:1",
                           "core:1000000 pu:1000000", "core:-1 pu:1", "core:2 core:2 pu:1"})
    EXPECT_NE(error_of(Source::synthetic(text), no_hwloc).find("install it"), std::string::npos) << text;
  EXPECT_NE(error_of(Source::xml("<topology/>"), no_hwloc).find("install it"), std::string::npos);
  EXPECT_THROW(export_xml(Source::this_machine(), no_hwloc), Error);
}

TEST(Discover, LeavesNoHwlocInTheProcess) {
  ASSERT_EQ(dlopen(hwloc_name, RTLD_LAZY | RTLD_NOLOAD), nullptr) << "hwloc was in the process before";
  discover(Source::this_machine());
  EXPECT_EQ(dlopen(hwloc_name, RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace espalier::topology
