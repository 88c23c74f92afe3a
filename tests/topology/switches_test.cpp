#include "topology/switches.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "topology/group.hpp"

namespace espalier::topology {
namespace {

const std::string two_leaves =
    "# a small fat tree\nleaf1: n0 n1\nleaf2: n2 n3  # the other\n\ncore: leaf1 leaf2\n";

std::string complaint(const std::string& node, const std::string& text) {
  try {
    switches_above(node, text, "net.txt");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Switches, PathFromTheOutermostIn) {
  EXPECT_EQ(switches_above("n0", two_leaves, "f"), "core.leaf1");
  EXPECT_EQ(switches_above("n3", two_leaves, "f"), "core.leaf2");
  EXPECT_EQ(switches_above("leaf1", two_leaves, "f"), "core");
  EXPECT_EQ(switches_above("elsewhere", two_leaves, "f"), "");
  EXPECT_EQ(switches_above("n0", "", "f"), "");
}

TEST(Switches, BadLinesAreNamed) {
  EXPECT_NE(complaint("n0", "leaf1: n0\nleaf2 n1\n").find("net.txt:2"), std::string::npos);
  EXPECT_NE(complaint("n0", ": n0\n").find("net.txt:1"), std::string::npos);
  EXPECT_NE(complaint("n0", "a: n0\nb: n0\n").find("n0 hangs on a and on b"), std::string::npos);
  EXPECT_NE(complaint("n0", "a: n0 b\nb: a\n").find("hangs on itself"), std::string::npos);
}

TEST(Switches, Slurm) {
  EXPECT_EQ(switches_of_slurm("s0.s2.node03", "switch.switch.node"), "s0.s2");
  EXPECT_EQ(switches_of_slurm("s0.node03", "switch.node"), "s0");
  EXPECT_EQ(switches_of_slurm("node03", "node"), "");
  EXPECT_EQ(switches_of_slurm("", ""), "");
}

std::string groups(std::vector<std::string> paths) { return print(group_by_switches(paths)); }

TEST(Switches, NodesMeetWhereTheirPathsBeginAlike) {
  EXPECT_EQ(groups({"core.a", "core.a", "core.b", "core.b"}), "virtual/machine(virtual(0 1) virtual(2 3))");
  EXPECT_EQ(groups({"a", "b", "a", "b"}), "machine(virtual(0 2) virtual(1 3))");
  EXPECT_EQ(groups({"", "", ""}), "machine(0 1 2)");
  EXPECT_EQ(groups({"a", "b", "a", ""}), "machine(virtual(0 2) 1 3)");
  EXPECT_EQ(groups({"a"}), "machine(0)");
  EXPECT_EQ(groups({"x.a", "x.b", "y.c", "y.c", "x.a"}),
            "machine(virtual(virtual(0 4) 1) virtual/virtual(2 3))");
}

}  // namespace
}  // namespace espalier::topology
