// What the checked transport may do, and what it reports: small programs on two nodes.
#include <gtest/gtest.h>

#include <set>

#include "simulation/checker/explore.hpp"
#include "simulation/checker/machine.hpp"
#include "simulation/checker/window.hpp"

namespace espalier::simulation::checker {
namespace {

using Program = std::function<void(network::Transport&, int rank)>;

/// Each rank on a node of its own.
Scenario apart(int ranks, Program program) {
  Scenario scenario;
  scenario.name = "program";
  scenario.ranks = ranks;
  scenario.policy = short_ladder(true);
  for (int rank = 0; rank < ranks; ++rank) scenario.node_of.push_back(rank);
  scenario.body = [program = std::move(program)](CheckingMachine&) {
    Execution& run = Execution::current();
    program(run.messages().of(run.rank()), run.rank());
  };
  return scenario;
}

void await(network::Transport& transport, network::Ticket ticket) {
  while (!transport.test(ticket)) Execution::current().idle(false);
}

std::optional<Violation> violation_of(Scenario scenario, int bound = 3) {
  Execution execution(std::move(scenario));
  Budget budget;
  budget.executions = 20'000;
  const Exploration exploration = explore_systematically(execution, bound, budget);
  if (!exploration.finding) return {};
  const Outcome again = replay(execution, parse_trace(print(exploration.finding->trace)));
  EXPECT_TRUE(again.violation && again.violation->text == exploration.finding->violation.text);
  return exploration.finding->violation;
}

/// What rank 1 sees, over all schedules with a few deviations.
std::set<std::vector<int>> seen(const Program& program, std::vector<int>& seen_now) {
  Execution execution(apart(2, program));
  std::set<std::vector<int>> all;
  SystematicChooser chooser(3);
  do {
    seen_now.clear();
    const Outcome outcome = execution.run(chooser);
    EXPECT_FALSE(outcome.violation) << outcome.violation->text;
    all.insert(seen_now);
  } while (chooser.advance());
  return all;
}

TEST(Messages, OnlyThoseOfOneTagKeepTheirOrder) {
  std::vector<int> order;
  const auto program = [&](int second_tag) {
    return [&order, second_tag](network::Transport& t, int rank) {
      const int data[2] = {1, 2};
      int got[2] = {};
      if (rank == 0) {
        const auto first = t.send(1, 5, &data[0], sizeof(int)),
                   second = t.send(1, second_tag, &data[1], sizeof(int));
        await(t, first), await(t, second);
        return;
      }
      const auto first = t.receive(0, 5, &got[0], sizeof(int)),
                 second = t.receive(0, second_tag, &got[1], sizeof(int));
      bool has_first = false, has_second = false;
      while (!has_first || !has_second) {
        if (!has_second && t.test(second)) has_second = true, order.push_back(got[1]);
        if (!has_first && t.test(first)) has_first = true, order.push_back(got[0]);
        if (!has_first || !has_second) Execution::current().idle(false);
      }
    };
  };
  EXPECT_EQ(seen(program(6), order), (std::set<std::vector<int>>{{1, 2}, {2, 1}}));
  // They may be seen done in any order, too, but each is what it was sent as.
  EXPECT_EQ(seen(program(5), order), (std::set<std::vector<int>>{{1, 2}, {2, 1}}));
}

TEST(Messages, CarryWhatTheirSenderKnew) {
  const auto program = [](bool tells) {
    return apart(2, [tells](network::Transport& t, int rank) {
      std::byte* note = Execution::current().note(0);
      std::uint64_t value = 7;
      if (rank == 0) {
        Platform::copy(note, &value, sizeof value);
        await(t, t.send(1, 5, nullptr, 0));
      } else {
        if (tells) await(t, t.receive(0, 5, nullptr, 0));
        Platform::copy(&value, note, sizeof value);
        Execution::current().expect(value == 7, "old data");
        if (!tells) await(t, t.receive(0, 5, nullptr, 0));
      }
    });
  };
  EXPECT_FALSE(violation_of(program(true)));
  EXPECT_TRUE(violation_of(program(false)));
}

TEST(Messages, DataThatAreChangedUnderWay) {
  const auto violation = violation_of(apart(2, [](network::Transport& t, int rank) {
    std::uint64_t data = 7;
    if (rank == 0) {
      const auto ticket = t.send(1, 5, &data, sizeof data);
      data = 8;
      await(t, ticket);
    } else {
      await(t, t.receive(0, 5, &data, sizeof data));
    }
  }));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::message);
}

TEST(Messages, AReadOfWhatIsBeingReceived) {
  const auto violation = violation_of(apart(2, [](network::Transport& t, int rank) {
    std::uint64_t data = 7, copy = 0;
    if (rank == 0) return await(t, t.send(1, 5, &data, sizeof data));
    const auto ticket = t.receive(0, 5, &data, sizeof data);
    Platform::copy(&copy, &data, sizeof data);
    await(t, ticket);
  }));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::message);
}

TEST(Messages, AMessageOfAnotherLength) {
  const auto violation = violation_of(apart(2, [](network::Transport& t, int rank) {
    std::uint64_t data = 7;
    await(t, rank == 0 ? t.send(1, 5, &data, sizeof data) : t.receive(0, 5, &data, 4));
  }));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::message);
}

TEST(Messages, NothingIsLeftOver) {
  for (const bool received : {true, false}) {
    const auto violation = violation_of(apart(2, [received](network::Transport& t, int rank) {
      std::uint64_t data = 7;
      if (rank == 0) t.send(1, 5, &data, sizeof data);
      if (rank == 1 && received) await(t, t.receive(0, 5, &data, sizeof data));
    }));
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->wrong, Wrong::message);
  }
}

// Hosts may or may not keep a message for a receiver that has not come; who relies on it is found.
TEST(Messages, ASendMayWaitForItsReceiver) {
  const auto violation = violation_of(apart(2, [](network::Transport& t, int rank) {
    std::uint64_t mine = 7, theirs = 0;
    await(t, t.send(1 - rank, 5, &mine, sizeof mine));
    await(t, t.receive(1 - rank, 5, &theirs, sizeof theirs));
  }));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::deadlock);
  EXPECT_EQ(violation->text, "rank 0 waits for messages; rank 1 waits for messages");
}

TEST(Windows, UseAfterTheyWereGivenBack) {
  constexpr std::size_t bytes = 64;
  constexpr int ids = 2;
  const auto program = [](bool waits) {
    Scenario scenario;
    scenario.name = "window";
    scenario.policy = short_ladder(true);
    scenario.area_bytes = Window::area_bytes(bytes, ids);
    scenario.body = [waits](CheckingMachine& m) {
      Window window({{{0, 1}}, {{0, 1}}, 0, m.rank()}, bytes, ids);
      const std::uint64_t data = 7;
      if (m.rank() == 1) {
        window.put_notify(0, 8, &data, sizeof data, 0, 1);
        if (!waits) window.put_notify(0, 16, &data, sizeof data, 1, 1);
        window.close();
      } else {
        window.wait_some(0, 1);
        window.close();
        Execution::current().give_back(window.local(), bytes);
      }
    };
    return scenario;
  };
  EXPECT_FALSE(violation_of(program(true)));
  const auto violation = violation_of(program(false));
  ASSERT_TRUE(violation);
  EXPECT_TRUE(violation->wrong == Wrong::freed || violation->wrong == Wrong::unordered) << violation->text;
}

}  // namespace
}  // namespace espalier::simulation::checker
