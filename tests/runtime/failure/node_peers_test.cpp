#include "runtime/failure/node_peers.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::runtime {
namespace {

/// Of a process that had this one's number before.
ProcessMark ended() {
  ProcessMark mark = own_mark();
  ++mark.started;
  return mark;
}

std::vector<int> ended_of(const NodePeers& peers) {
  std::vector<int> all;
  peers.for_each_ended([&](int rank) { all.push_back(rank); });
  return all;
}

TEST(NodePeers, ThoseThatHaveEndedAreFound) {
  NodePeers peers;
  peers.be(own_mark());
  peers.add(3, own_mark());
  peers.add(5, ended());
  EXPECT_EQ(ended_of(peers), std::vector<int>{5});
  EXPECT_FALSE(peers.has_ended(4)) << "a rank of another node";
}

// After a restart from a checkpoint all marks are of former processes.
TEST(NodePeers, NoneIsFoundByARankWhoseOwnMarkIsOld) {
  NodePeers peers;
  peers.add(5, ended());
  EXPECT_TRUE(ended_of(peers).empty());
  peers.be(ended());
  EXPECT_TRUE(ended_of(peers).empty());
}

}  // namespace
}  // namespace espalier::runtime
