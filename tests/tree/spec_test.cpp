#include "tree/spec.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"

namespace espalier::tree {
namespace {

using topology::Level;

std::string error_of(const char* text) {
  try {
    parse_spec(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Spec, ReadsTheTextOfTheDesign) {
  Spec spec = parse_spec("numa=flat socket=kary:2 machine=knomial:4 virtual=7 leaders=last skew=right");
  EXPECT_EQ(spec.at(Level::numa), Shape::flat());
  EXPECT_EQ(spec.at(Level::package), Shape::kary(2));
  EXPECT_EQ(spec.at(Level::machine), Shape::knomial(4));
  EXPECT_EQ(spec.at(Level::l3), std::nullopt);
  EXPECT_EQ(spec.virtual_degree, 7);
  EXPECT_EQ(spec.leaders, Leaders::last);
  EXPECT_EQ(spec.skew, Skew::right);
  EXPECT_EQ(to_string(spec), "numa=flat package=kary:2 machine=knomial:4 virtual=7 leaders=last skew=right");
}

TEST(Spec, ABareShapeIsTheDefault) {
  EXPECT_EQ(parse_spec("knomial:4").shape, Shape::knomial(4));
  EXPECT_EQ(to_string(parse_spec("  l3=chain\tkary:3 ")), "kary:3 l3=chain");
  EXPECT_EQ(parse_spec(""), Spec{});
  EXPECT_EQ(to_string(Spec{}), "flat");
  EXPECT_EQ(parse_spec("leaders=first skew=left virtual=0"), Spec{});
}

TEST(Spec, VirtualIsADegreeOrAShape) {
  Spec spec = parse_spec("virtual=kary:2 virtual=4");
  EXPECT_EQ(spec.virtual_degree, 4);
  EXPECT_EQ(spec.at(Level::virtual_domain), Shape::kary(2));
}

TEST(Spec, LevelsMayBeChosen) {
  EXPECT_EQ(parse_spec("levels=socket,numa").levels, (std::vector{Level::numa, Level::package}));
  EXPECT_EQ(parse_spec("levels=numa,socket,package").levels, (std::vector{Level::numa, Level::package}));
  EXPECT_EQ(parse_spec("levels=none").levels, std::vector<Level>{});
  EXPECT_EQ(to_string(parse_spec("knomial:2 levels=none")), "knomial:2 levels=none");
}

TEST(Spec, NamesTheWordItsColumnAndWhatIsAllowed) {
  EXPECT_EQ(error_of("numa=flat socket=kary:x"),
            "tree \"numa=flat socket=kary:x\": cannot read \"socket=kary:x\" at column 11; allowed there: "
            "socket= and a "
            "shape (flat, kary:K (K from 1), knomial:K (K from 2), chain)");
  EXPECT_EQ(error_of("flat  leaders=middle"),
            "tree \"flat  leaders=middle\": cannot read \"leaders=middle\" at column 7; allowed there: first "
            "or last after "
            "the =");
  EXPECT_EQ(error_of("skew=left skew=right"),
            "tree \"skew=left skew=right\": cannot read \"skew=right\" at column 11; allowed there: each "
            "setting once");
  EXPECT_EQ(error_of("nuna=flat"),
            "tree \"nuna=flat\": cannot read \"nuna=flat\" at column 1; allowed there: a level (core, l2, "
            "l3, numa, package "
            "or socket, machine, virtual), levels, leaders or skew before the =");
}

TEST(Spec, RefusesWhatItCannotRead) {
  for (const char* text : {"star",
                           "flat kary:2",
                           "numa",
                           "numa=",
                           "=flat",
                           "numa=7",
                           "virtual=1",
                           "virtual=-2",
                           "virtual=",
                           "virtual=two",
                           "levels=",
                           "levels=machine",
                           "levels=numa,",
                           "levels=none,numa",
                           "levels=virtual",
                           "socket=flat package=flat",
                           "leaders=",
                           "skew=up",
                           "numa==flat",
                           "virtual=3 virtual=4",
                           "virtual=99999999999999",
                           "numa=flat,socket=flat"}) {
    EXPECT_THROW(parse_spec(text), Error) << text;
  }
}

TEST(Spec, AnySpecGoesBothWays) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    auto shape = [&] {
      int degree = 2 + static_cast<int>(random() % 9);
      Shape any[] = {Shape::flat(), Shape::kary(degree - 1), Shape::knomial(degree), Shape::chain()};
      return any[random() % 4];
    };
    Spec spec;
    spec.shape = shape();
    for (Level level : topology::all_levels) {
      if (random() % 3 == 0) spec.at(level) = shape();
    }
    if (random() % 2) spec.virtual_degree = 2 + static_cast<int>(random() % 8);
    if (random() % 2) spec.leaders = Leaders::last;
    if (random() % 2) spec.skew = Skew::right;
    if (random() % 2) {
      spec.levels.emplace();
      for (Level level : {Level::core, Level::l2, Level::l3, Level::numa, Level::package}) {
        if (random() % 2) spec.levels->push_back(level);
      }
    }
    EXPECT_EQ(parse_spec(to_string(spec)), spec) << to_string(spec);
    EXPECT_EQ(to_string(parse_spec(to_string(spec))), to_string(spec));
  }
}

TEST(Spec, AGroupOfSeveralLevelsTakesTheInnermostShape) {
  topology::Group group{Level::l3, {}, {0, 1}, {Level::numa, Level::package}};
  EXPECT_EQ(parse_spec("package=kary:2").shape_of(group), Shape::kary(2));
  EXPECT_EQ(parse_spec("package=kary:2 numa=chain").shape_of(group), Shape::chain());
  EXPECT_EQ(parse_spec("machine=kary:2 knomial:3").shape_of(group), Shape::knomial(3));
}

}  // namespace
}  // namespace espalier::tree
