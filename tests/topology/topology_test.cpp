#include "topology/topology.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "topology/describe.hpp"

namespace espalier::topology {
namespace {

TEST(Level, NamesGoBothWays) {
  for (Level level : all_levels) EXPECT_EQ(parse_level(to_string(level)), level);
  EXPECT_EQ(parse_level("socket"), Level::package);
  EXPECT_EQ(to_string(Level::virtual_domain), "virtual");
  EXPECT_FALSE(find_level("sockets"));
  try {
    parse_level("die");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "\"die\" is not a level; the levels are core, l2, l3, numa, package, machine, virtual (and socket, "
        "which is package)");
  }
}

TEST(Nest, PutsDomainsIntoEachOther) {
  Topology made{nest(CpuSet::range(0, 3), {{Level::core, {3}, {}},
                                           {Level::core, {0}, {}},
                                           {Level::l3, {2, 3}, {}},
                                           {Level::package, {2, 3}, {}},
                                           {Level::core, {2}, {}},
                                           {Level::numa, {2, 3}, {}},
                                           {Level::package, {0, 1}, {}}}),
                "here"};
  EXPECT_EQ(print(made),
            "(machine 0-3 (package 0-1 (core 0)) (package 2-3 (numa 2-3 (l3 2-3 (core 2) (core 3))))) here");
}

TEST(Nest, LeavesOutWhatIsEmptyTwiceOrAcross) {
  Domain made =
      nest(CpuSet::range(0, 3), {{Level::numa, {0, 1}, {}},
                                 {Level::numa, {0, 1}, {}},    // memory of another kind beside the first
                                 {Level::numa, {}, {}},        // memory without cores
                                 {Level::l3, {1, 2}, {}},      // across the border
                                 {Level::core, {3, 4}, {}}});  // beyond the machine
  EXPECT_EQ(print(Topology{made, ""}), "(machine 0-3 (numa 0-1))");
}

TEST(Nest, ANumaDomainAroundAllPackagesIsTheMachine) {
  Domain two =
      nest(CpuSet::range(0, 3),
           {{Level::numa, {0, 1, 2, 3}, {}}, {Level::package, {0, 1}, {}}, {Level::package, {2, 3}, {}}});
  EXPECT_EQ(print(Topology{two, ""}), "(machine 0-3 (package 0-1) (package 2-3))");
  Domain one = nest(CpuSet::range(0, 1), {{Level::numa, {0, 1}, {}}, {Level::package, {0, 1}, {}}});
  EXPECT_EQ(print(Topology{one, ""}), "(machine 0-1 (package 0-1 (numa 0-1)))");
}

TEST(TopologyText, RefusesBrokenTexts) {
  for (const char* text :
       {"", "(", "machine 0-3", "(machine 0-3", "(machin 0-3)", "(machine 0-x)", "(machine 0-3 (core 4))",
        "(machine 0-3 (core 1)", "(machine 0-3)x", "(machine)", "(machine 0-3 core)"}) {
    EXPECT_THROW(parse_topology(text), Error) << text;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "(core 0 ";
  EXPECT_THROW(parse_topology(deep), Error);
}

TEST(TopologyText, GoesBothWays) {
  Topology made{nest({0, 1, 5}, {{Level::package, {0, 1}, {}}, {Level::core, {5}, {}}}),
                "a (made up) machine"};
  EXPECT_EQ(parse_topology(print(made)), made);
  made.source.clear();
  EXPECT_EQ(parse_topology(print(made)), made);
}

TEST(TopologyJson, HoldsTheWholeMachine) {
  auto json = to_json(parse_topology("(machine 0-1 (core 0) (core 1)) made up"));
  EXPECT_EQ(json["source"], "made up");
  EXPECT_EQ(json["machine"]["cpus"], "0-1");
  EXPECT_EQ(json["machine"]["children"][1]["level"], "core");
  EXPECT_EQ(json["machine"]["children"][1]["cpus"], "1");
}

}  // namespace
}  // namespace espalier::topology
