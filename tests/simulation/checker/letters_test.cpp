// Nonblocking collectives over nodes under hostile schedules; and under faults in what is sent, each of which must be
// found. Mutants of the text itself are in mutants_test.cpp.
#include "tests/simulation/checker/letters.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "simulation/checker/explore.hpp"
#include "tests/full.hpp"

namespace espalier::testing {
namespace {

using namespace simulation::checker;
using runtime::across::Head;

TEST(Letters, AnySchedule) {
  for (const int ranks : {2, 3, 4, 5})
    for (const Scenario& scenario : letters_between_nodes(ranks, {})) {
      Execution execution(scenario);
      Budget budget;
      budget.executions = full() ? 20'000 : 80;
      const Exploration exploration = explore_randomly(execution, budget);
      EXPECT_FALSE(exploration.finding) << print(*exploration.finding);
    }
}

// What a rank does for the others in a test, a piece of a fold or data that it gives late, may be the last on its node.
TEST(Letters, WhoWaitsInTheHostAfterATestOwesNothing) {
  for (const int ranks : {3, 4})
    for (const Scenario& scenario : letters_between_nodes(ranks, {})) {
      if (scenario.name.find("then all wait in the host") == std::string::npos) continue;
      Execution execution(scenario);
      Budget budget;
      budget.executions = 500;
      const Exploration exploration = explore_randomly(execution, budget);
      EXPECT_FALSE(exploration.finding) << print(*exploration.finding);
    }
}

// All schedules with few preemptions, stale loads and late messages.
TEST(Letters, SystematicallyOnThreeRanks) {
  for (const Scenario& scenario : letters_between_nodes(3, {})) {
    Execution execution(scenario);
    Budget budget;
    budget.executions = full() ? 50'000 : 300;
    const Exploration exploration = explore_systematically(execution, 2, budget);
    EXPECT_FALSE(exploration.finding) << print(*exploration.finding);
  }
}

enum class Fault {
  sent_twice,
  never_sent,
  of_the_next_call,
  of_the_call_before,
  other_data,
  from_another_rank
};

/// Between a rank and its messages: one of its letters is not as it should be.
class FaultyTransport final : public network::Transport {
 public:
  FaultyTransport(network::Transport& plain, Fault fault, int which)
      : plain_(plain), fault_(fault), left_(which) {}

  network::Ticket send(int process, int tag, const void* data, std::size_t bytes) override {
    if (tag != LettersMember::letters_tag || left_-- != 0) return plain_.send(process, tag, data, bytes);
    if (fault_ == Fault::never_sent) return never_;
    std::byte* const letter = Execution::current().keep(bytes);  // the sender does not wait for this one
    std::memcpy(letter, data, bytes);
    change(letter, bytes);
    if (fault_ == Fault::sent_twice) again_ = plain_.send(process, tag, letter, bytes);
    return plain_.send(process, tag, letter, bytes);
  }
  network::Ticket receive(int process, int tag, void* data, std::size_t bytes) override {
    return plain_.receive(process, tag, data, bytes);
  }
  bool test(network::Ticket ticket) override {
    if (again_ && plain_.test(*again_)) again_.reset();
    return ticket == never_ || plain_.test(ticket);
  }
  std::optional<network::Arrival> probe(int tag) override { return plain_.probe(tag); }
  void make_progress() override { plain_.make_progress(); }
  int tags() const override { return plain_.tags(); }

 private:
  void change(std::byte* letter, std::size_t bytes) const {
    Head head;
    std::memcpy(&head, letter, sizeof head);
    if (fault_ == Fault::of_the_next_call) ++head.call;
    if (fault_ == Fault::of_the_call_before) --head.call;
    if (fault_ == Fault::from_another_rank) head.node = head.node == 0 ? 1 : 0;
    std::memcpy(letter, &head, sizeof head);
    if (fault_ == Fault::other_data && bytes > sizeof head) letter[bytes - 1] ^= std::byte{1};
  }

  static constexpr network::Ticket never_ = ~network::Ticket{0};
  network::Transport& plain_;
  Fault fault_;
  int left_;
  std::optional<network::Ticket> again_;
};

/// In the letters of rank 0, which sends some in each scenario of three ranks.
bool finds(const Scenario& scenario) {
  Execution execution(scenario);
  Budget budget;
  budget.executions = 200;
  return explore_randomly(execution, budget).finding.has_value();
}

// Not of every letter in every scenario: what a reduce's letter to a rank that reads none says makes no difference.
TEST(Letters, EachFaultInALetterIsFound) {
  for (const Fault fault : {Fault::sent_twice, Fault::never_sent, Fault::of_the_next_call,
                            Fault::of_the_call_before, Fault::other_data, Fault::from_another_rank})
    for (const int which : {0, 1, 2}) {
      const WrapTransport wrap = [=](network::Transport& plain) {
        const int at = Execution::current().rank() == 0 ? which : -1;
        return std::make_shared<FaultyTransport>(plain, fault, at);
      };
      int found = 0;
      for (const Scenario& scenario : letters_between_nodes(3, wrap)) found += finds(scenario);
      std::cout << static_cast<int>(fault) << " " << which << ": " << found << "\n";
      EXPECT_GT(found, 0) << static_cast<int>(fault) << ", letter " << which;
    }
}

}  // namespace
}  // namespace espalier::testing
