#include "runtime/guard/trial.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace espalier::runtime::guard {
namespace {

using Ticks = std::function<std::uint64_t(Server, int call)>;

/// Makes calls of `ticks` until the trial is settled; how many.
int calls_until_settled(Trial& trial, const Ticks& ticks) {
  int call = 0;
  for (; !trial.is_settled() && call < 10'000; ++call)
    if (trial.note(ticks(trial.server(), call))) trial.judge(trial.mine());
  return call;
}

Ticks constant(std::uint64_t espalier, std::uint64_t host) {
  return [=](Server server, int) { return server == Server::host ? host : espalier; };
}

TEST(Trial, BeginsWithEspalier) { EXPECT_EQ(Trial().server(), Server::espalier); }

TEST(Trial, TheFasterOneServesAfterLessThan200Calls) {
  Trial slow, fast;
  EXPECT_LT(calls_until_settled(slow, constant(100, 90)), 200);
  EXPECT_EQ(slow.server(), Server::host);
  EXPECT_LT(calls_until_settled(fast, constant(90, 100)), 100);
  EXPECT_EQ(fast.server(), Server::espalier);
}

TEST(Trial, EspalierKeepsWhatIsAsFastWithinTheMargin) {
  Trial trial;
  calls_until_settled(trial, constant(100, 98));
  EXPECT_EQ(trial.server(), Server::espalier);
}

TEST(Trial, AHopelessHostServesOneBlock) {
  Trial trial;
  int by_host = 0;
  calls_until_settled(trial, [&](Server server, int) -> std::uint64_t {
    by_host += server == Server::host;
    return server == Server::host ? 1000 : 1;
  });
  EXPECT_EQ(by_host, Trial::calls_of_block);
  EXPECT_EQ(trial.server(), Server::espalier);
}

TEST(Trial, ASlowFirstPairOfTheHostIsForgiven) {
  Trial trial;
  calls_until_settled(trial, [](Server server, int call) -> std::uint64_t {
    if (server == Server::espalier) return 100;
    return call < 2 * Trial::calls_of_block ? 700 : 50;
  });
  EXPECT_EQ(trial.server(), Server::host);
}

TEST(Trial, TwoDisturbedPairsDecideNothing) {
  Trial trial;
  calls_until_settled(trial, [](Server server, int call) -> std::uint64_t {
    const int pair = call / (2 * Trial::calls_of_block);
    if (server == Server::host && (pair == 3 || pair == 5)) return 100'000;
    return server == Server::host ? 50 : 100;
  });
  EXPECT_EQ(trial.server(), Server::host);
}

TEST(Trial, AMachineThatBecomesSlowerFavoursNeither) {
  Trial trial;
  calls_until_settled(trial, [](Server, int call) { return static_cast<std::uint64_t>(1000 + 10 * call); });
  EXPECT_EQ(trial.server(), Server::espalier);
  Trial faster;
  calls_until_settled(faster, [](Server, int call) { return static_cast<std::uint64_t>(9000 - 10 * call); });
  EXPECT_EQ(faster.server(), Server::espalier);
}

TEST(Trial, TheFirstCallAfterTheOtherServersIsNotCounted) {
  Trial trial;
  int call_of_block = 0;
  Server last = Server::host;
  calls_until_settled(trial, [&](Server server, int) -> std::uint64_t {
    call_of_block = server == last ? call_of_block + 1 : 0;
    last = server;
    if (server == Server::host) return call_of_block == 0 ? 1'000 : 50;
    return 100;
  });
  EXPECT_EQ(trial.server(), Server::host);
}

TEST(Trial, ACloseOutcomeIsTriedAgain) {
  Trial trial;
  calls_until_settled(trial, constant(100, 120));
  EXPECT_EQ(trial.calls_until_next(), Trial::pause);
  trial.begin_again();
  EXPECT_EQ(trial.server(), Server::espalier);
  calls_until_settled(trial, constant(100, 50));
  EXPECT_EQ(trial.server(), Server::host);
  EXPECT_EQ(trial.calls_until_next(), Trial::pause);
}

TEST(Trial, AClearOutcomeOfEspaliersIsNot) {
  Trial trial;
  calls_until_settled(trial, constant(100, 300));
  EXPECT_EQ(trial.calls_until_next(), 0u);
}

TEST(Trial, SaysWhyTheHostServes) {
  Trial trial;
  EXPECT_EQ(trial.why_host(1e-9, 2), "ESPALIER_GUARD tries the host");
  int calls = 0;
  while (!trial.is_settled())
    if (trial.note(trial.server() == Server::host ? 2'000 : 3'000)) {
      const Pair mine = trial.mine();
      trial.judge({2 * mine.espalier, 2 * mine.host});  // two ranks
      ++calls;
    }
  EXPECT_EQ(trial.why_host(1e-9, 2), "ESPALIER_GUARD found the host faster: 2.00 us a call, Espalier 3.00");
  EXPECT_EQ(calls, 1 + Trial::wins);
}

}  // namespace
}  // namespace espalier::runtime::guard
