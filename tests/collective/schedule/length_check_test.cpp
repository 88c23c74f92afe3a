// Nonblocking collectives in which a rank gets more or less than it wants.
#include "collective/schedule/length_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "tests/collective/calling_rank.hpp"

namespace espalier::collective {
namespace {

using testing::bytes_of;
using testing::Doubles;
using testing::RankMemory;
using testing::Ranks;
using testing::SharedMemory;
using testing::WatchedMachine;

/// The root of a bcast gives `given` numbers, of which the other rank wants `wanted`.
void bcast_lengths(std::size_t given, std::size_t wanted,
                   const std::function<void(const CallUnderWay&, const Doubles&)>& look) {
  SharedMemory memory(2, std::size_t{1} << 20);
  Ranks all(2, 4);
  all.run([&](WatchedMachine& m) {
    RankMemory own = memory.for_a_rank();
    testing::CallingRank::Calls calls(m, memory.with(own));
    const bool is_root = m.rank() == 0;
    Doubles data(std::max(given, wanted), is_root ? 1.0 : 0.0);
    CallUnderWay call;
    const std::vector<Block> block(2, {bytes_of(data), (is_root ? given : wanted) * 8}), none;
    call.spec =
        transfer_spec({m.rank(), 2}, Collective::bcast, 0, 0, is_root ? block : none, is_root ? none : block);
    calls.start(call);
    while (!calls.advance(call)) std::this_thread::yield();
    if (!is_root) look(call, data);
  });
}

TEST(LengthsOfCalls, MoreThanIsWantedIsNotedAndNotTaken) {
  for (const std::size_t given : {10, 2000})
    bcast_lengths(given, 9, [given](const CallUnderWay& call, const Doubles& data) {
      EXPECT_EQ(call.excess.peer, 0);
      EXPECT_EQ(call.excess.wanted, 72u);
      EXPECT_EQ(call.excess.given, given * 8);
      EXPECT_EQ(data, Doubles(given, 0.0));
    });
}

TEST(LengthsOfCalls, LessThanIsWantedIsTaken) {
  for (const std::size_t wanted : {10, 2000})
    bcast_lengths(9, wanted, [wanted](const CallUnderWay& call, const Doubles& data) {
      EXPECT_LT(call.excess.peer, 0);
      Doubles result(wanted, 0.0);
      std::fill_n(result.begin(), 9, 1.0);
      EXPECT_EQ(data, result);
    });
}

}  // namespace
}  // namespace espalier::collective
