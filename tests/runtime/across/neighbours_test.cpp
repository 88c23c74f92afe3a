#include "runtime/across/neighbours.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace espalier::runtime::across {
namespace {

/// Of a process that had this one's number before.
ProcessMark ended() {
  ProcessMark mark = own_mark();
  ++mark.started;
  return mark;
}

std::vector<int> ended_of(const Neighbours& neighbours) {
  std::vector<int> all;
  neighbours.for_each_ended([&](int rank) { all.push_back(rank); });
  return all;
}

TEST(NeighboursOfARank, ThoseThatHaveEndedAreFound) {
  Neighbours neighbours;
  neighbours.be(own_mark());
  neighbours.add(3, own_mark());
  neighbours.add(5, ended());
  EXPECT_EQ(ended_of(neighbours), std::vector<int>{5});
  EXPECT_FALSE(neighbours.has_ended(4)) << "a rank of another node";
}

// After a restart from a checkpoint all marks are of former processes.
TEST(NeighboursOfARank, NoneIsFoundByARankWhoseOwnMarkIsOld) {
  Neighbours neighbours;
  neighbours.add(5, ended());
  EXPECT_TRUE(ended_of(neighbours).empty());
  neighbours.be(ended());
  EXPECT_TRUE(ended_of(neighbours).empty());
}

}  // namespace
}  // namespace espalier::runtime::across
