#include "runtime/guard/turns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace espalier::runtime::guard {
namespace {

/// The same calls as several ranks make them, each of which counts by itself.
class Ranks {
 public:
  explicit Ranks(std::size_t ranks) : turns_(ranks) {}

  /// All ranks begin the next call. `took` says how long; 0: the call ends without saying so.
  Server call(const std::function<std::uint64_t(std::size_t rank, Server)>& took) {
    std::size_t plain = 0;
    for (Turns& each : turns_) plain += each.is_plain();
    agreed_ = agreed_ && (plain == 0 || plain == turns_.size());
    if (plain != 0) return Server::espalier;
    add_up();
    const Server server = turns_[0].begin();
    for (std::size_t rank = 1; rank < turns_.size(); ++rank)
      agreed_ = turns_[rank].begin() == server && agreed_;
    for (std::size_t rank = 0; rank < turns_.size(); ++rank) {
      agreed_ = agreed_ && turns_[rank].is_measured() == turns_[0].is_measured();
      const std::uint64_t ticks = took(rank, server);
      if (ticks != 0 && turns_[rank].is_measured()) turns_[rank].end(ticks);
    }
    tried_ += turns_[0].is_measured();
    return server;
  }
  /// So far ranks have done the same.
  bool agreed() const { return agreed_; }
  /// Calls on trial so far.
  int tried() const { return tried_; }

 private:
  void add_up() {
    std::size_t ended = 0;
    Pair sum;
    for (Turns& each : turns_) {
      ended += each.ends_pair();
      sum.espalier += each.measured().espalier;
      sum.host += each.measured().host;
    }
    agreed_ = agreed_ && (ended == 0 || ended == turns_.size());
    for (Turns& each : turns_)
      if (ended != 0) each.judge(sum);
  }

  std::vector<Turns> turns_;
  bool agreed_ = true;
  int tried_ = 0;
};

TEST(Turns, RanksAgreeWhateverCallsTakeAndHoweverTheyEnd) {
  std::mt19937 random(1);
  Ranks ranks(4);
  const auto took = [&](std::size_t rank, Server) -> std::uint64_t {
    return random() % 16 == 0 ? 0 : random() % (100 * (rank + 1));
  };
  for (int call = 0; call < 200'000; ++call) ranks.call(took);
  EXPECT_TRUE(ranks.agreed());
  EXPECT_GT(ranks.tried(), 500);  // several trials
}

/// Calls on trial at first, and then how many others until they are on trial again; 0: not in 100,000.
int calls_between_trials(std::uint64_t espalier, std::uint64_t host, Server& faster) {
  Ranks ranks(2);
  const auto took = [&](std::size_t, Server server) { return server == Server::host ? host : espalier; };
  int tried = -1;
  while (tried < ranks.tried()) tried = ranks.tried(), ranks.call(took);
  for (int others = 1; others < 100'000; ++others) {  // one of them is over
    faster = ranks.call(took);
    if (ranks.tried() > tried) return others;
  }
  return 0;
}

TEST(Turns, SoManyCallsLaterThereIsAnotherTrial) {
  Server faster{};
  EXPECT_EQ(calls_between_trials(100, 120, faster), static_cast<int>(Trial::pause));
  EXPECT_EQ(calls_between_trials(120, 100, faster), static_cast<int>(Trial::pause));
}

TEST(Turns, AfterAClearOutcomeThereIsNone) {
  Server faster{};
  EXPECT_EQ(calls_between_trials(100, 300, faster), 0);
  EXPECT_EQ(faster, Server::espalier);
}

TEST(Turns, TheFasterOneHasTheCallsInBetween) {
  Ranks ranks(2);
  const auto took = [](std::size_t, Server server) -> std::uint64_t {
    return server == Server::host ? 50 : 100;
  };
  for (int call = 0; call < 200; ++call) ranks.call(took);
  const int tried = ranks.tried();
  for (int call = 0; call < 10'000; ++call) ASSERT_EQ(ranks.call(took), Server::host);
  EXPECT_EQ(ranks.tried(), tried);
}

TEST(Turns, WithoutTrialAllCallsArePlain) {
  Turns turns = Turns::without_trial();
  for (int call = 0; call < 100'000; ++call) ASSERT_TRUE(turns.is_plain());
}

}  // namespace
}  // namespace espalier::runtime::guard
