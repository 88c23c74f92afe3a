#include "machine/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>

namespace espalier::machine {
namespace {

CallHistory history_of(std::initializer_list<CallFacts> calls) {
  CallHistory history;
  for (const CallFacts& call : calls) history.add(call);
  return history;
}

constexpr CallFacts usual = {Collective::allreduce, 0, 64};

TEST(CallHistory, EqualCallsHaveEqualFingerprints) {
  CallHistory a, b;
  for (int i = 0; i < 10000; ++i) {
    const CallFacts call = {all_collectives[static_cast<std::size_t>(i) % all_collectives.size()], i % 5,
                            static_cast<std::uint64_t>(i) * 8};
    a.add(call);
    b.add(call);
    ASSERT_EQ(a.fingerprint(), b.fingerprint()) << i;
  }
  EXPECT_EQ(a.number(), 10000u);
}

TEST(CallHistory, AnyDifferenceShows) {
  const Fingerprint mine = history_of({usual}).fingerprint();
  for (const CallFacts& other : {CallFacts{Collective::bcast, 0, 64}, CallFacts{Collective::allreduce, 1, 64},
                                 CallFacts{Collective::allreduce, 0, 72}}) {
    EXPECT_NE(history_of({other}).fingerprint(), mine);
    EXPECT_TRUE(of_one_call(history_of({other}).fingerprint(), mine));
  }
}

// After which two ranks that both think they are the root would go on side by side.
TEST(CallHistory, ADifferenceStays) {
  CallHistory a = history_of({{Collective::bcast, 0, 64}}), b = history_of({{Collective::bcast, 1, 64}});
  for (int i = 0; i < 100000; ++i) {
    ASSERT_NE(a.fingerprint(), b.fingerprint()) << i;
    a.add(usual);
    b.add(usual);
  }
}

TEST(LengthMark, SaysShortLengthsAndSitsInTheHash) {
  for (const std::uint64_t bytes : {0u, 1u, 112u, 65536u, (1u << 20) - 1})
    EXPECT_EQ(length_mark(bytes), bytes);
  for (const std::uint64_t bytes : {std::uint64_t{1} << 20, std::uint64_t{5} << 40, ~std::uint64_t{0}}) {
    EXPECT_EQ(length_mark(bytes) >> call_hash_bits, 0u);
    EXPECT_NE(length_mark(bytes), length_mark(bytes + 1));
    EXPECT_NE(length_mark(bytes), length_mark(2 * bytes));
  }
}

TEST(LengthMark, OfAPairKnowsTheDirections) {
  EXPECT_NE(length_mark(PairLengths{8, 16}), length_mark(PairLengths{16, 8}));
  EXPECT_NE(length_mark(PairLengths{8, 0}), length_mark(PairLengths{8, 8}));
}

TEST(LengthMark, OfPairsThatDifferInOneLengthDiffer) {
  for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{70'000}, std::uint64_t{1} << 30}) {
    const Fingerprint mark = length_mark(PairLengths{bytes, bytes});
    for (std::uint64_t more = 1; more < 1 << 18; ++more) {
      ASSERT_NE(length_mark(PairLengths{bytes + more, bytes}), mark) << more;
      ASSERT_NE(length_mark(PairLengths{bytes, bytes + more}), mark) << more;
    }
  }
}

TEST(CallHistory, ACallInWhichNothingMovesIsAnother) {
  CallHistory mine = history_of({usual});
  const Fingerprint moved = mine.fingerprint();
  mine.add_nothing();
  EXPECT_NE(mine.fingerprint(), moved);
  EXPECT_TRUE(of_one_call(mine.fingerprint(), moved));
}

TEST(CallHistory, LengthsAndRootsHardlyMeet) {
  std::set<Fingerprint> seen;
  for (int root = 0; root < 8; ++root)
    for (std::uint64_t bytes = 8; bytes <= 8 * 1024; bytes += 8)
      seen.insert(history_of({{Collective::bcast, root, bytes}}).fingerprint());
  EXPECT_GT(seen.size(), 8u * 1024 * 99 / 100);
}

TEST(CallHistory, LaterAndEarlierCallsAreOfAnother) {
  CallHistory history = history_of({usual});
  const Fingerprint first = history.fingerprint();
  for (int ahead = 1; ahead < 4096; ++ahead) {
    history.add(usual);
    ASSERT_FALSE(of_one_call(first, history.fingerprint())) << ahead;
  }
}

}  // namespace
}  // namespace espalier::machine
