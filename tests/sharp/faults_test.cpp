#include "sharp/library/faults.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace espalier::sharp {
namespace {

TEST(Faults, happen_where_and_when_they_are_asked_for) {
  const Faults faults("init=-7,group.2=-18,operation.5@1=drop,operation.6=late:-1,operation=delay:500");
  EXPECT_EQ(faults.at(Point::init, 1, 3)->value, -7);
  EXPECT_FALSE(faults.at(Point::group, 1, 0));
  EXPECT_EQ(faults.at(Point::group, 2, 0)->value, -18);
  EXPECT_EQ(faults.at(Point::operation, 5, 1)->action, Fault::Action::drop);
  EXPECT_EQ(faults.at(Point::operation, 5, 0)->action, Fault::Action::delay);
  EXPECT_EQ(faults.at(Point::operation, 5, 0)->value, 500);
  EXPECT_EQ(faults.at(Point::operation, 6, 0)->action, Fault::Action::late);
  EXPECT_EQ(faults.at(Point::operation, 6, 0)->value, -1);
  EXPECT_FALSE(Faults("").at(Point::init, 1, 0));
}

TEST(Faults, of_another_form_are_refused) {
  for (const char* text : {"init", "init=", "init=x", "end=-1", "group.x=-1", "operation@=drop",
                           "operation=delay", "operation=drop:3", "operation=wait:3"})
    EXPECT_THROW(Faults{text}, Error) << text;
}

}  // namespace
}  // namespace espalier::sharp
