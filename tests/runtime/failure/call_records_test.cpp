#include "runtime/failure/call_records.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace espalier::runtime {
namespace {

using machine::CallFacts;

CallFacts call_of(std::uint64_t number) {
  return {all_collectives[number % all_collectives.size()], static_cast<int>(number % 1000), number * 8,
          static_cast<reduce::OperationCode>(number % (1 + reduce::user_operation))};
}

TEST(CallRecords, AtFirstNothingHasBegun) {
  const auto records = std::make_unique<CallRecords>();
  EXPECT_FALSE(records->has_come_to(1));
  EXPECT_FALSE(records->find(1).has_value());
  EXPECT_FALSE(records->has_left());
}

TEST(CallRecords, TheLastCallsAreKept) {
  const auto records = std::make_unique<CallRecords>();
  for (std::uint64_t number = 1; number <= 100; ++number) records->write(number, call_of(number));
  for (std::uint64_t number = 101 - CallRecords::kept; number <= 100; ++number) {
    ASSERT_TRUE(records->has_come_to(number));
    ASSERT_EQ(records->find(number), RecordedCall{call_of(number)}) << number;
  }
  EXPECT_TRUE(records->has_come_to(100 - CallRecords::kept)) << "it has gone on since";
  EXPECT_FALSE(records->find(100 - CallRecords::kept).has_value());
  EXPECT_FALSE(records->has_come_to(101));
  EXPECT_FALSE(records->find(101).has_value());
}

// Numbers are kept in 24 bits, and those of lengths in 16.
TEST(CallRecords, NumbersGoAround) {
  for (const std::uint64_t around :
       {std::uint64_t{1} << 16, std::uint64_t{1} << 24, std::uint64_t{1} << 40}) {
    const auto records = std::make_unique<CallRecords>();
    for (std::uint64_t number = around - 40; number < around - 20; ++number)
      records->write(number, call_of(number));
    for (std::uint64_t number = around - 20; number <= around + 20; ++number) {
      ASSERT_FALSE(records->has_come_to(number)) << number;
      records->write(number, call_of(number));
      ASSERT_TRUE(records->has_come_to(number)) << number;
      ASSERT_EQ(records->find(number)->root, call_of(number).root);
    }
  }
}

TEST(CallRecords, LabelsAreThoseOfTheSameCall) {
  const auto records = std::make_unique<CallRecords>();
  for (std::uint64_t number = 1; number <= 3000; ++number) {
    RecordedCall call{call_of(number)};
    records->write(number, call);
    if (number < 20) {
      ASSERT_EQ(records->find(number), call);  // without a label as long as none was written
      continue;
    }
    const auto before = records->find(number);  // its record is written, its label not yet
    ASSERT_TRUE(!before || before->label == 0) << number;
    call.label = static_cast<std::uint16_t>(number * 7 % (machine::most_label + 1));
    records->write_label(number, call.label);
    ASSERT_EQ(records->find(number), call);
  }
}

TEST(CallRecords, TheLargestRootAndLength) {
  const auto records = std::make_unique<CallRecords>();
  const CallFacts call = {Collective::exscan, (1 << 24) - 1, (std::uint64_t{1} << 48) - 1,
                          reduce::user_operation};
  records->write(7, call);
  EXPECT_EQ(records->find(7), RecordedCall{call});
}

// A rank of the same job may write anything there: what it says is not used as an index.
TEST(CallRecords, ACollectiveThatDoesNotExistIsNone) {
  const auto records = std::make_unique<CallRecords>();
  records->write(3, CallFacts{static_cast<Collective>(collective_count), 0, 8});
  EXPECT_FALSE(records->find(3));
  records->write(4, CallFacts{static_cast<Collective>(255), 0, 8});
  EXPECT_FALSE(records->find(4));
  records->write(5, CallFacts{static_cast<Collective>(collective_count - 1), 0, 8});
  EXPECT_TRUE(records->find(5));
}

TEST(CallRecords, Leaving) {
  const auto records = std::make_unique<CallRecords>();
  records->leave();
  EXPECT_TRUE(records->has_left());
}

}  // namespace
}  // namespace espalier::runtime
