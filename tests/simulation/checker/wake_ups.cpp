// Waits and wake-ups by themselves: several sleepers on one line, who sleep through steps that are not
// theirs; lines that several ranks write by turns; a token that goes around while all others sleep.
#include "simulation/checker/machine.hpp"
#include "tests/simulation/checker/making.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using machine::Channel;
using memory::Step;

// Rank 0 announces one step after the other, all on one line; another waits for every how-manieth, whatever
// comes between. What was announced before the awaited step has been written.
void sleep_through_steps(CheckingMachine& m) {
  constexpr int steps = 6;
  Execution& run = Execution::current();
  for (int i = 1; i <= steps; ++i) {
    const Step step = m.advance().last();
    if (m.rank() == 0) {
      const std::uint64_t value = word(0, 0, i);
      simulation::checker::Platform::copy(run.note(0) + 8 * i, &value, sizeof value);
      m.publish(Channel::gather, step);
    } else if (i % m.rank() == 0) {
      m.await(Channel::gather, 0, step);
      std::uint64_t value = 0;
      simulation::checker::Platform::copy(&value, run.note(0) + 8 * i, sizeof value);
      run.expect(value == word(0, 0, i), "a rank woke before what it waits for was there");
    }
    m.finish(step);
  }
}

// Every rank waits for the rank below, then wakes the one above; the line that carries the token is its
// reader's, and its writer changes from round to round.
void pass_a_token(CheckingMachine& m) {
  const int n = m.size();
  for (int round = 0; round < 3; ++round) {
    const int apart = 1 + round % (n - 1), first = round % n;
    for (int hop = 0, holder = first; hop < n; ++hop, holder = (holder + apart) % n) {
      const Step step = m.advance().last();
      const int next = (holder + apart) % n;
      const std::uint64_t token = word(holder, 0, round);
      if (m.rank() == holder) m.publish_for(next, Channel::release, step, &token, sizeof token);
      if (m.rank() == next) {
        m.await(Channel::release, next, step);
        std::uint64_t got = 0;
        simulation::checker::Platform::copy(&got, m.inline_data(Channel::release, next, step), sizeof got);
        Execution::current().expect(got == token, "a token that no rank has passed on");
      }
      m.finish(step);
      for (const int peer : m.other_ranks()) m.await_finish(peer, step);
    }
  }
}

// The last to arrive wakes all others, who all sleep on one line.
void wake_all_at_once(CheckingMachine& m) {
  for (int round = 0; round < 4; ++round) {
    const Step step = m.advance().last();
    const std::uint64_t value = word(0, 0, round);
    std::uint64_t got = value;
    if (m.arrive_last(step))
      m.release_all(step, &value, sizeof value);
    else
      simulation::checker::Platform::copy(&got, m.await_release_all(step), sizeof got);
    Execution::current().expect(got == value, "a rank went on before all had arrived");
    m.finish(step);
    for (const int peer : m.other_ranks()) m.await_finish(peer, step);
  }
}

}  // namespace

std::vector<Scenario> wake_ups(int ranks, bool fenced) {
  return {make("sleep through steps", ranks, fenced, one, sleep_through_steps),
          make("pass a token", ranks, fenced, two, pass_a_token),
          serving(make("pass a token", ranks, fenced, two, pass_a_token)),
          make("wake all at once", ranks, fenced, one, wake_all_at_once)};
}

}  // namespace espalier::testing
