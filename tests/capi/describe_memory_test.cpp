// {"what": "memory"}: the answer is that of the layout that serves communicators.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/capi/asking.hpp"

namespace {

using espalier::testing::ask;
using espalier::testing::in_child;
using nlohmann::json;

json memory_of(int ranks, double ranks_per_core) {
  return ask(json{{"what", "memory"}, {"ranks", ranks}, {"ranks_per_core", ranks_per_core}}.dump());
}

TEST(DescribeMemory, TheBudgetHoldsWhatItSays) {
  in_child({{"ESPALIER_SHM", "64MiB"}}, [] {
    const json answer = memory_of(4, 1);
    ASSERT_FALSE(answer.contains("error")) << answer;
    EXPECT_EQ(answer["arena"], 64 << 20);
    EXPECT_EQ(answer["setting"], "64MiB");
    EXPECT_EQ(answer["origin"], "environment");
    ASSERT_EQ(answer["communicators"].size(), 2u) << "two are half of them";
    for (const json& kind : answer["communicators"]) {
      const std::size_t bytes = kind["bytes"], lines = kind["lines"], number = kind["at_once"];
      EXPECT_EQ(lines % 4096, 0u);
      EXPECT_LT(lines, bytes);
      EXPECT_EQ(kind["of_a_rank"], bytes / kind["ranks"].get<std::size_t>());
      EXPECT_GE(number * lines, std::size_t{56} << 20) << "later ones have fewer lines each";
    }
  });
}

TEST(DescribeMemory, RanksThatShareCoresHaveCells) {
  in_child({}, [] {
    EXPECT_EQ(memory_of(16, 1)["communicators"][0]["cell"], 0);
    EXPECT_GT(memory_of(16, 8)["communicators"][0]["cell"], 0);
  });
}

TEST(DescribeMemory, WithoutAHeapThereIsOneDescriptor) {
  in_child({}, [] { EXPECT_EQ(memory_of(2, 1)["descriptors_of_a_rank"], 2); });
  in_child({{"ESPALIER_ALLOC_MEM", "off"}}, [] {
    const json answer = memory_of(2, 1);
    EXPECT_EQ(answer["descriptors_of_a_rank"], 1);
    EXPECT_EQ(answer["no_heap"], "ESPALIER_ALLOC_MEM is off");
  });
}

TEST(DescribeMemory, OneRankHasNoShare) {
  in_child({}, [] { EXPECT_TRUE(memory_of(1, 1)["communicators"].empty()); });
}

}  // namespace
