#include "network/window/choice.hpp"

#include <gtest/gtest.h>

#include "network/window/team.hpp"

namespace espalier::network {
namespace {

WindowTransport chosen(std::string_view setting, int nodes, WindowMeans means = {}) {
  const WindowChoice choice = choose_window_transport(setting, nodes, means);
  EXPECT_FALSE(choice.why.empty());
  return choice.transport;
}

TEST(WindowChoice, OneNodeNeedsNothing) {
  for (const char* setting : {"auto", "message", "rma", "notify"})
    EXPECT_EQ(chosen(setting, 1, {true, true}), WindowTransport::memory);
}

TEST(WindowChoice, WhatIsAskedForWhereItIsThere) {
  EXPECT_EQ(chosen("auto", 2, {true, true}), WindowTransport::message);
  EXPECT_EQ(chosen("message", 2, {true, true}), WindowTransport::message);
  EXPECT_EQ(chosen("rma", 2, {true, false}), WindowTransport::rma);
  EXPECT_EQ(chosen("notify", 2, {true, true}), WindowTransport::notify);
  EXPECT_EQ(chosen("rma", 2), WindowTransport::message);
  EXPECT_EQ(chosen("notify", 2, {true, false}), WindowTransport::message);
  EXPECT_NE(choose_window_transport("notify", 2, {true, false}).why.find("no MPIX_Put_notify"),
            std::string::npos);
}

// The rank that aims at a rank is counted there: the end of a window depends on it.
TEST(WindowTeam, SendersAreThoseThatAim) {
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{1, 1}, {2, 2}, {3, 1, 3}, {1, 4, 2}, {5}}) {
    std::vector<std::vector<int>> processes;
    int next = 0;
    for (const int size : sizes) {
      processes.emplace_back();
      for (int i = 0; i < size; ++i) processes.back().push_back(next++);
    }
    std::vector<int> aimed(static_cast<std::size_t>(next)), said(aimed);
    for (int node = 0; node < static_cast<int>(sizes.size()); ++node)
      for (int local = 0; local < sizes[static_cast<std::size_t>(node)]; ++local) {
        const WindowTeam team{processes, processes, node, local};
        said[static_cast<std::size_t>(team.process())] = team.senders();
        for (int other = 0; other < team.nodes(); ++other)
          if (other != node) ++aimed[static_cast<std::size_t>(team.target(other))];
      }
    EXPECT_EQ(said, aimed);
  }
}

}  // namespace
}  // namespace espalier::network
