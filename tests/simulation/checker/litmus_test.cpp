// What the memory allows and what it forbids, in the small programs by which memory models are told apart
// (L. Maranget, S. Sarkar, P. Sewell, "A Tutorial Introduction to the ARM and POWER Relaxed Memory Models",
// 2012).
#include <gtest/gtest.h>

#include <set>

#include "simulation/checker/explore.hpp"
#include "simulation/checker/machine.hpp"

namespace espalier::simulation::checker {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
using Results = std::set<std::vector<std::uint64_t>>;

/// Flag x of the program: the step of a line in rank 0's note.
decltype(Line::step)& flag(int number) {
  return reinterpret_cast<Line*>(Execution::current().note(0))[number].step;
}
std::byte* plain() { return Execution::current().note(1); }

/// What the ranks' loads can return together, over all schedules with a few preemptions and stale loads.
Results results_of(int ranks, std::function<void(CheckingMachine&, std::vector<std::uint64_t>&)> program) {
  std::vector<std::uint64_t> loaded;
  Scenario scenario;
  scenario.ranks = ranks;
  scenario.body = [&](CheckingMachine& m) { program(m, loaded); };
  Execution execution(scenario);
  Results results;
  SystematicChooser chooser(6);
  do {
    loaded.assign(8, 9);
    const Outcome outcome = execution.run(chooser);
    EXPECT_FALSE(outcome.violation) << outcome.violation->text;
    while (!loaded.empty() && loaded.back() == 9) loaded.pop_back();
    results.insert(loaded);
  } while (chooser.advance());
  return results;
}

TEST(Litmus, MessagePassing) {
  const auto pass = [](std::memory_order writes, std::memory_order reads) {
    return results_of(2, [=](CheckingMachine& m, std::vector<std::uint64_t>& loaded) {
      if (m.rank() == 0) {
        flag(0).store(1, relaxed);
        flag(1).store(1, writes);
      } else {
        loaded[0] = flag(1).load(reads);
        loaded[1] = flag(0).load(relaxed);
      }
    });
  };
  EXPECT_FALSE(pass(release, acquire).contains({1, 0}));
  EXPECT_TRUE(pass(relaxed, acquire).contains({1, 0}));
  EXPECT_TRUE(pass(release, relaxed).contains({1, 0}));
  EXPECT_EQ(pass(release, acquire), (Results{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(Litmus, MessagePassingByFences) {
  const auto pass = [](std::memory_order before_store, std::memory_order after_load) {
    return results_of(2, [=](CheckingMachine& m, std::vector<std::uint64_t>& loaded) {
      if (m.rank() == 0) {
        flag(0).store(1, relaxed);
        Platform::fence(before_store);
        flag(1).store(1, relaxed);
      } else {
        loaded[0] = flag(1).load(relaxed);
        Platform::fence(after_load);
        loaded[1] = flag(0).load(relaxed);
      }
    });
  };
  EXPECT_FALSE(pass(release, acquire).contains({1, 0}));
  EXPECT_TRUE(pass(acquire, acquire).contains({1, 0}));
  EXPECT_TRUE(pass(release, release).contains({1, 0}));
}

// The Dekker of a signal and a sleeper: without both fences, both may miss the other.
TEST(Litmus, StoreBuffering) {
  const auto dekker = [](std::memory_order first, std::memory_order second) {
    return results_of(2, [=](CheckingMachine& m, std::vector<std::uint64_t>& loaded) {
      flag(m.rank()).store(1, release);
      Platform::fence(m.rank() == 0 ? first : second);
      loaded[static_cast<std::size_t>(m.rank())] = flag(1 - m.rank()).load(relaxed);
    });
  };
  EXPECT_FALSE(dekker(seq_cst, seq_cst).contains({0, 0}));
  EXPECT_TRUE(dekker(seq_cst, acq_rel).contains({0, 0}));
  EXPECT_TRUE(dekker(acq_rel, seq_cst).contains({0, 0}));
}

TEST(Litmus, AFlagNeverGoesBack) {
  const Results results = results_of(2, [](CheckingMachine& m, std::vector<std::uint64_t>& loaded) {
    if (m.rank() == 0) {
      flag(0).store(1, relaxed);
      flag(0).store(2, relaxed);
    } else {
      loaded[0] = flag(0).load(relaxed);
      loaded[1] = flag(0).load(relaxed);
    }
  });
  EXPECT_EQ(results, (Results{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

// Two readers need not agree on the order of two stores by different ranks.
TEST(Litmus, IndependentReadersOfIndependentWrites) {
  const Results results = results_of(4, [](CheckingMachine& m, std::vector<std::uint64_t>& loaded) {
    const auto me = static_cast<std::size_t>(m.rank());
    if (me < 2) return flag(m.rank()).store(1, release);
    loaded[2 * me - 4] = flag(m.rank() % 2).load(acquire);
    loaded[2 * me - 3] = flag(1 - m.rank() % 2).load(acquire);
  });
  EXPECT_TRUE(results.contains({1, 0, 1, 0}));
}

// An addition goes on with the release of the value it adds to, whatever its own order.
TEST(Litmus, ReleaseSequence) {
  const auto through = [](bool adds) {
    return results_of(3, [=](CheckingMachine& m, std::vector<std::uint64_t>& loaded) {
      if (m.rank() == 0) {
        flag(0).store(1, relaxed);
        flag(1).store(1, release);
      } else if (m.rank() == 1) {
        if (flag(1).load(relaxed) != 1) return;
        if (adds)
          flag(1).fetch_add(1, relaxed);
        else
          flag(1).store(2, relaxed);
      } else {
        loaded[0] = flag(1).load(acquire);
        loaded[1] = flag(0).load(relaxed);
      }
    });
  };
  EXPECT_FALSE(through(true).contains({2, 0}));
  EXPECT_TRUE(through(false).contains({2, 0}));
}

TEST(Litmus, AdditionsAreNeverLost) {
  const Results results = results_of(3, [](CheckingMachine& m, std::vector<std::uint64_t>& loaded) {
    loaded[static_cast<std::size_t>(m.rank())] = flag(0).fetch_add(1, relaxed);
  });
  EXPECT_EQ(results.size(), 6u);
  for (auto order : results) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2}));
  }
}

/// The first violation in a program of two ranks.
std::optional<Violation> violation_of(std::function<void(CheckingMachine&)> program) {
  Scenario scenario;
  scenario.name = "program";
  scenario.body = std::move(program);
  scenario.policy = short_ladder(true);
  Execution execution(scenario);
  const Exploration exploration = explore_systematically(execution, 3, {});
  if (!exploration.finding) return {};
  const Finding& finding = *exploration.finding;
  const Outcome again = replay(execution, parse_trace(print(finding.trace)));
  if (finding.violation.text.find("differ") == std::string::npos) {
    EXPECT_TRUE(again.violation && again.violation->text == finding.violation.text) << print(finding);
  }
  return finding.violation;
}

void write_plain() {
  const std::uint64_t value = 7;
  Platform::copy(plain(), &value, sizeof value);
}
std::uint64_t read_plain() {
  std::uint64_t value = 0;
  Platform::copy(&value, plain(), sizeof value);
  return value;
}

TEST(PlainMemory, OrderedAccessesAreFine) {
  EXPECT_FALSE(violation_of([](CheckingMachine& m) {
    if (m.rank() == 0) {
      write_plain();
      flag(0).store(1, release);
    } else if (flag(0).load(acquire) == 1) {
      Execution::current().expect(read_plain() == 7, "what an acquire makes visible");
    }
  }));
}

TEST(PlainMemory, AReadBeforeAnythingWasWritten) {
  const auto violation = violation_of([](CheckingMachine& m) {
    if (m.rank() == 1) read_plain();
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::unwritten);
}

TEST(PlainMemory, AReadThatNoAcquireOrders) {
  const auto violation = violation_of([](CheckingMachine& m) {
    if (m.rank() == 0) {
      write_plain();
      flag(0).store(1, release);
    } else if (flag(0).load(relaxed) == 1) {
      read_plain();
    }
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::unordered);
}

TEST(PlainMemory, AnOverwriteOfWhatIsStillRead) {
  const auto violation = violation_of([](CheckingMachine& m) {
    if (m.rank() == 0) {
      write_plain();
      flag(0).store(1, release);
      write_plain();
    } else if (flag(0).load(acquire) == 1) {
      read_plain();
    }
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::unordered);
}

// A look that tells no rank reads junk, so that it shows in what comes of it.
TEST(PlainMemory, AnUntoldLookAtWhatIsBeingWritten) {
  const auto violation = violation_of([](CheckingMachine& m) {
    if (m.rank() == 0) return write_plain();
    flag(1).load(relaxed);
    const auto first = static_cast<unsigned>(*plain());
    Execution::current().expect(first == 0 || first == 7, "neither the old value nor the new one");
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::result);
}

TEST(PlainMemory, UseOfWhatWasGivenBack) {
  const auto violation = violation_of([](CheckingMachine& m) {
    const auto offset = static_cast<std::size_t>(plain() - Execution::current().note(0));
    if (m.rank() == 0) {
      write_plain();
      machine::Layout layout;
      layout.ranks = 2;
      layout.slots = 4;
      Execution::current().give_back(layout.affinity_record(0) + offset, 8);
      flag(0).store(1, release);
    } else if (flag(0).load(acquire) == 1) {
      read_plain();
    }
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::freed);
}

TEST(PlainMemory, AWriteThatNobodyWasToldOf) {
  const auto violation = violation_of([](CheckingMachine& m) {
    if (m.rank() == 0) *Execution::current().note(1) = std::byte{1};
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::error);
}

TEST(Violations, Deadlock) {
  const auto violation = violation_of([](CheckingMachine& m) {
    if (m.rank() == 1) m.await(machine::Channel::gather, 0, 3);
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::deadlock);
  EXPECT_EQ(violation->text, "rank 0 is through; rank 1 sleeps on the gather line 3 of rank 0 for step 3");
}

TEST(Violations, LostWakeUp) {
  const auto violation = violation_of([](CheckingMachine& m) {
    Line& line = *reinterpret_cast<Line*>(Execution::current().note(0));
    if (m.rank() == 0) {
      line.step.store(1, release);  // and no look at who sleeps
    } else {
      Waiter waiter(short_ladder(true), {});
      waiter.await(line, 1, 0);
    }
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::lost_wake_up);
}

TEST(Violations, ResultsThatDependOnTheSchedule) {
  const auto violation = violation_of([](CheckingMachine& m) {
    const std::uint64_t before = flag(0).fetch_add(1, acq_rel);
    Execution::current().result(&before, sizeof before);
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->wrong, Wrong::result);
}

TEST(Violations, ExceptionsOfTheAlgorithm) {
  const auto violation = violation_of([](CheckingMachine& m) {
    if (m.rank() == 1) throw std::runtime_error("so it goes");
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->text, "rank 1: so it goes");
}

}  // namespace
}  // namespace espalier::simulation::checker
