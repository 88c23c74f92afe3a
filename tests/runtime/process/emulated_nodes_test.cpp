#include "runtime/process/emulated_nodes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace espalier::runtime {
namespace {

std::vector<int> nodes_of(const char* text, int processes) {
  std::vector<int> nodes;
  for (int process = 0; process < processes; ++process)
    nodes.push_back(pretended_node(text, process, processes));
  return nodes;
}

using Nodes = std::vector<int>;

TEST(PretendedNodes, NoneAreOne) { EXPECT_EQ(nodes_of("", 3), (Nodes{0, 0, 0})); }

TEST(PretendedNodes, ANumberMakesBlocksAsEqualAsTheyCanBe) {
  EXPECT_EQ(nodes_of("1", 3), (Nodes{0, 0, 0}));
  EXPECT_EQ(nodes_of("2", 4), (Nodes{0, 0, 1, 1}));
  EXPECT_EQ(nodes_of("3", 7), (Nodes{0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(nodes_of("4", 4), (Nodes{0, 1, 2, 3}));
}

TEST(PretendedNodes, MoreNodesThanProcessesAreOneEach) {
  const Nodes nodes = nodes_of("9", 4);
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_LT(nodes[i - 1], nodes[i]);
  EXPECT_EQ(pretended_node("2147483647", 1, 2), 1073741823);
}

TEST(PretendedNodes, Cyclic) {
  EXPECT_EQ(nodes_of("3:cyclic", 7), (Nodes{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(nodes_of("1:cyclic", 2), (Nodes{0, 0}));
}

TEST(PretendedNodes, SizesRepeat) {
  EXPECT_EQ(nodes_of("3+1+3", 7), (Nodes{0, 0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(nodes_of("2+1", 8), (Nodes{0, 0, 1, 2, 2, 3, 4, 4}));
  EXPECT_EQ(nodes_of("1+1+1", 2), (Nodes{0, 1}));
  EXPECT_EQ(nodes_of("2147483647+2147483647+2", 3), (Nodes{0, 0, 0}));
}

TEST(PretendedNodes, TextsThatSayNothingAreNamed) {
  for (const std::string text : {"0", "-1", "x", "2x", "0:cyclic", ":cyclic", "2:cyclic:cyclic", "2:Cyclic",
                                 "3+", "+3", "3++1", "3+0", "3+x", "+", " 2", "2 ", "99999999999", "2.5"}) {
    try {
      pretended_node(text, 0, 4);
      ADD_FAILURE() << "\"" << text << "\" was read";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("ESPALIER_NODES=" + text + " "), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace espalier::runtime
