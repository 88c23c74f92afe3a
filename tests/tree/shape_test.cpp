#include "tree/shape.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "topology/group.hpp"
#include "tree/compose.hpp"

namespace espalier::tree {
namespace {

std::string drawn(Shape shape, int n, Skew skew = Skew::left) {
  Spec spec;
  spec.shape = shape;
  spec.skew = skew;
  return print(compose(topology::flat_group(n), spec, 0));
}

TEST(Shape, TextGoesBothWays) {
  for (Shape shape : {Shape::flat(), Shape::chain(), Shape::kary(1), Shape::kary(2), Shape::knomial(2),
                      Shape::knomial(64)}) {
    EXPECT_EQ(parse_shape(to_string(shape)), shape);
  }
  EXPECT_EQ(to_string(Shape::kary(3)), "kary:3");
  EXPECT_EQ(to_string(Shape::flat()), "flat");
}

TEST(Shape, RefusesWhatIsNoShape) {
  for (const char* text : {"", "kary", "kary:", "kary:0", "kary:-1", "kary:2x", "kary: 2", "knomial:1",
                           "knomial", "flat:2", "chain:1", "Flat", "star", "kary:99999999999", "kary:2:3"}) {
    EXPECT_THROW(parse_shape(text), Error) << text;
  }
  EXPECT_THROW(children_by_position(Shape::kary(0), Skew::left, 4), Error);
  EXPECT_THROW(children_by_position(Shape::knomial(1), Skew::left, 4), Error);
  EXPECT_THROW(children_by_position({Shape::Kind::flat, 3}, Skew::left, 4), Error);
}

TEST(Shape, KaryOfEightRanksLeftAndRightSkewed) {
  // RG Fig. 8: rank 7 is the leftmost leaf, then the rightmost.
  EXPECT_EQ(drawn(Shape::kary(2), 8), "0(1(3(7) 4) 2(5 6))");
  EXPECT_EQ(drawn(Shape::kary(2), 8, Skew::right), "0(2(6 5) 1(4 3(7)))");
}

TEST(Shape, FlatAndChain) {
  EXPECT_EQ(drawn(Shape::flat(), 5), "0(1 2 3 4)");
  EXPECT_EQ(drawn(Shape::flat(), 5, Skew::right), "0(4 3 2 1)");
  EXPECT_EQ(drawn(Shape::chain(), 4), "0(1(2(3)))");
  EXPECT_EQ(drawn(Shape::kary(1), 4), "0(1(2(3)))");
}

TEST(Shape, KnomialServesDeepSubtreesFirst) {
  EXPECT_EQ(drawn(Shape::knomial(2), 8), "0(4(6(7) 5) 2(3) 1)");
  EXPECT_EQ(drawn(Shape::knomial(2), 8, Skew::right), "0(1 2(3) 4(5 6(7)))");
  EXPECT_EQ(drawn(Shape::knomial(2), 6), "0(4(5) 2(3) 1)");
  EXPECT_EQ(drawn(Shape::knomial(3), 9), "0(3(4 5) 6(7 8) 1 2)");
  EXPECT_EQ(drawn(Shape::knomial(4), 4), "0(1 2 3)");
  EXPECT_EQ(drawn(Shape::knomial(100), 5), "0(1 2 3 4)");
}

TEST(Shape, OneAndNone) {
  for (Shape shape : {Shape::flat(), Shape::chain(), Shape::kary(2), Shape::knomial(2)}) {
    EXPECT_EQ(drawn(shape, 1), "0");
    EXPECT_TRUE(children_by_position(shape, Skew::left, 0).empty());
  }
}

TEST(Shape, BinomialDoublesWithEveryStep) {
  for (int steps = 0; steps <= 10; ++steps) {
    Spec spec;
    spec.shape = Shape::knomial(2);
    Tree tree = compose(topology::flat_group(1 << steps), spec, 0);
    EXPECT_EQ(depth(tree), steps);
    EXPECT_EQ(max_fan_out(tree), steps);
  }
}

}  // namespace
}  // namespace espalier::tree
