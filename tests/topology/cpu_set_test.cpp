#include "topology/cpu_set.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <random>
#include <set>

#include "base/error.hpp"

namespace espalier::topology {
namespace {

TEST(CpuSet, PrintsAndParsesTheKernelsListForm) {
  EXPECT_EQ((CpuSet{0, 1, 2, 3, 8}).to_string(), "0-3,8");
  EXPECT_EQ(CpuSet::parse("0-3,8"), (CpuSet{8, 3, 2, 1, 0}));
  EXPECT_EQ(CpuSet::parse(" 63-64,5000\n"), (CpuSet{63, 64, 5000}));
  EXPECT_EQ(CpuSet::parse(""), CpuSet());
  EXPECT_EQ(CpuSet().to_string(), "");
}

TEST(CpuSet, RefusesWhatIsNoListAndSaysWhere) {
  for (const char* text :
       {"a", "1-", "-3", "3-1", "1,", "1;2", "1 2", "99999999999", "1048576", "0x3", "--1"}) {
    EXPECT_THROW(CpuSet::parse(text), Error) << text;
  }
  try {
    CpuSet::parse("0-3,x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("column 5"), std::string::npos) << error.what();
  }
  EXPECT_THROW(CpuSet{-1}, Error);
}

TEST(CpuSet, EqualSetsAreEqualHoweverTheyCameAbout) {
  CpuSet wide{1, 4000};
  wide -= CpuSet{4000};
  EXPECT_EQ(wide, CpuSet{1});
  EXPECT_EQ((CpuSet{1, 4000} & CpuSet{1, 3999}), CpuSet{1});
  EXPECT_TRUE((CpuSet{70} & CpuSet{71}).empty());
}

TEST(CpuSet, AgreesWithAPlainSet) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::set<int> a, b;
    CpuSet x, y;
    for (int i = 0; i < 60; ++i) {
      int cpu = static_cast<int>(random() % 200), other = static_cast<int>(random() % 260);
      a.insert(cpu), x.set(cpu);
      if (random() % 4 == 0) b.insert(cpu), y.set(cpu);
      if (random() % 8 == 0) b.insert(other), y.set(other);
    }
    std::set<int> both, either = a, only = a;
    for (int cpu : b) {
      if (a.count(cpu)) both.insert(cpu);
      either.insert(cpu), only.erase(cpu);
    }
    auto as_set = [](const CpuSet& s) {
      std::set<int> result;
      for (int cpu = s.first(); cpu >= 0; cpu = s.next(cpu)) result.insert(cpu);
      return result;
    };
    EXPECT_EQ(as_set(x | y), either);
    EXPECT_EQ(as_set(x & y), both);
    EXPECT_EQ(as_set(x - y), only);
    EXPECT_EQ(x.count(), static_cast<int>(a.size()));
    EXPECT_EQ(x.intersects(y), !both.empty());
    EXPECT_EQ(x.contains(y), both == b);
    EXPECT_EQ(CpuSet::parse((x | y).to_string()), (x | y));
    for (int cpu = -1; cpu < 300; ++cpu) EXPECT_EQ(x.test(cpu), a.count(cpu) == 1);
  }
}

TEST(CpuSet, ReadsTheAffinityAlsoWhenTheFirstBufferIsTooNarrow) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  CpuSet expected;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) expected.set(cpu);
  }
  EXPECT_EQ(current_affinity(), expected);
  EXPECT_EQ(current_affinity(1), expected);  // one byte: the kernel refuses it
  EXPECT_EQ(current_affinity(65536), expected);
}

TEST(CpuSet, FollowsABinding) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int cpu = current_affinity().first();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(current_affinity(), CpuSet{cpu});
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(CpuSet, BindsTheThread) {
  const CpuSet before = current_affinity();
  const CpuSet last = {before.count() > 1 ? before.next(before.first()) : before.first()};
  EXPECT_TRUE(set_current_affinity(last));
  EXPECT_EQ(current_affinity(), last);
  EXPECT_FALSE(set_current_affinity({}));
  EXPECT_FALSE(set_current_affinity({CpuSet::max_cpu}));
  EXPECT_EQ(current_affinity(), last);
  EXPECT_TRUE(set_current_affinity(before));
}

}  // namespace
}  // namespace espalier::topology
