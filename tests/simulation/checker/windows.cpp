// Windows: data before notification on every rank of the node, whichever it was aimed at; one rank gets a
// value; ids and blocks used again; nothing under way when a window is given back (docs/windows.md).
#include "simulation/checker/window.hpp"

#include "network/window/request.hpp"
#include "simulation/checker/machine.hpp"
#include "tests/simulation/checker/member.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using memory::Step;
using simulation::checker::Platform;
using simulation::checker::Window;

/// So much of a segment belongs to each rank.
constexpr std::size_t block = 16;
constexpr int most_ids = 32;

std::size_t position_of(int rank) { return static_cast<std::size_t>(rank) * block; }

/// Until all ranks of the node have come.
void meet(CheckingMachine& m) {
  const Step step = m.advance().last();
  m.publish(machine::Channel::gather, step);
  for (const int peer : m.other_ranks()) m.await(machine::Channel::gather, peer, step);
  m.finish(step);
  for (const int peer : m.other_ranks()) m.await_finish(peer, step);
}

Words read_words(const std::byte* source, std::size_t count) {
  Words got(count);
  Platform::copy(got.data(), source, count * 8);
  return got;
}

// All ranks write to all nodes; every rank of a node waits for every notification and reads.
Body all_see_the_data(SharedNodes nodes, std::size_t bytes) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    const int ranks = run.ranks(), me = run.rank();
    const std::size_t count = bytes / 8;
    Window window(team_of(*nodes), bytes * static_cast<std::size_t>(ranks), most_ids);
    const auto offset = [&](int rank) { return bytes * static_cast<std::size_t>(rank); };
    const Buffer source(count);
    source.fill(words(me, count, 0));
    for (int node = 0; node < window.nodes(); ++node)
      window.put_notify(node, offset(me), source.bytes(), bytes, me, static_cast<std::uint32_t>(me) + 1);
    for (int rank = 0; rank < ranks; ++rank) {
      const int id = window.wait_some(rank, 1);
      run.expect(window.peek(id) == static_cast<std::uint32_t>(rank) + 1, "a notification's value");
      run.expect(read_words(window.local() + offset(rank), count) == words(rank, count, 0),
                 "a notification came before its data");
    }
    window.flush();
    source.spoil();
    window.close();
    meet(m);
    if (m.rank() == 0) run.give_back(window.local(), window.bytes());
  };
}

// All ranks of a node try to take each notification. Who gets it reads the data, and says so; then its sender
// uses the id and the block again. Every rank's takings are counted in the end.
Body one_gets_the_value(SharedNodes nodes, int rounds) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    const int ranks = run.ranks(), me = run.rank();
    Window window(team_of(*nodes), position_of(ranks), most_ids);
    const int next = (window.node() + 1) % window.nodes();
    const auto said = [&](int rank) { return ranks + rank; };
    const Buffer source(2);
    std::uint64_t taken = 0;
    std::vector<int> seen(static_cast<std::size_t>(ranks), 0);
    int sent = 0;
    const auto send = [&] {
      source.fill(words(me, 2, sent));
      window.put_notify(next, position_of(me), source.bytes(), block, me, static_cast<std::uint32_t>(++sent));
      window.flush();
      source.spoil();
    };
    const auto take = [&](int sender) {
      const std::uint32_t value = window.reset(sender);
      if (value == 0) return;
      taken += value;
      run.expect(read_words(window.local() + position_of(sender), 2) ==
                     words(sender, 2, static_cast<int>(value) - 1),
                 "what was reset does not belong to its data");
      window.notify(nodes->placement().node_of[static_cast<std::size_t>(sender)], said(sender), value);
    };
    send();
    const auto is_for_this_node = [&](int rank) {
      return (nodes->placement().node_of[static_cast<std::size_t>(rank)] + 1) % window.nodes() ==
             window.node();
    };
    // Every rank ends when the last of the sender's values is known to be taken: the sender tells its node.
    int through = 0;
    window.drive_until([&] {
      for (int rank = 0; rank < ranks; ++rank)
        if (is_for_this_node(rank)) take(rank);
      if (window.peek(said(me)) == static_cast<std::uint32_t>(sent) && through == 0) {
        if (sent < rounds)
          send();
        else
          for (int node = 0; node < window.nodes(); ++node)
            window.notify(node, 2 * ranks + me, 1), through = 1;
      }
      for (int rank = 0; rank < ranks; ++rank)
        if (window.peek(2 * ranks + rank) == 0) return false;
      return true;
    });
    Platform::copy(run.note(me), &taken, sizeof taken);
    window.close();
    meet(m);
    std::uint64_t all = 0, senders = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      if (nodes->placement().node_of[static_cast<std::size_t>(rank)] == window.node())
        all += read_words(run.note(rank), 1)[0];
      senders += is_for_this_node(rank);
    }
    run.expect(all == senders * static_cast<std::uint64_t>(rounds * (rounds + 1) / 2),
               "a notification was lost or taken twice");
    if (m.rank() == 0) run.give_back(window.local(), window.bytes());
  };
}

// Within a node the rank that sees the zero may write again: one puts, another takes and puts back nothing.
Body zero_says_taken(SharedNodes nodes) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    Window window(team_of(*nodes), block, most_ids);
    for (int round = 0; round < 4; ++round) {
      const Words data = words(0, 2, round);
      if (m.rank() == 0) {
        window.drive_until([&] { return window.peek(0) == 0; });
        window.put_notify(0, 0, data.data(), block, 0, 1);
      } else if (m.rank() == 1) {
        window.wait_some(0, 1);
        run.expect(read_words(window.local(), 2) == data, "old data");
        window.reset(0);
      }
    }
    window.close();
  };
}

void expect_notes_of_node_0() {
  Execution& run = Execution::current();
  for (int rank = 0; rank < run.ranks(); ++rank)
    if (run.node_of_rank(rank) == 0)
      run.expect(read_words(run.note(rank), 1)[0] == word(rank, 1, 0), "a count came before its data");
}

// The last to count sees what all have written before they counted.
void count_in(CheckingMachine& m, Window& window, std::size_t at) {
  Execution& run = Execution::current();
  const std::uint64_t mine = word(run.rank(), 1, 0);
  Platform::copy(run.note(run.rank()), &mine, sizeof mine);
  if (window.fetch_add(0, at, 1) + 1 == static_cast<std::uint64_t>(m.size())) expect_notes_of_node_0();
}

// A word that all nodes add to; and one with which the ranks of node 0 guard plain memory.
Body words_that_all_change(SharedNodes nodes) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    const int ranks = run.ranks();
    constexpr std::size_t sum_at = 0, lock_at = 8, guarded_at = 16, counted_at = 32;
    Window window(team_of(*nodes), 40, most_ids);
    for (std::uint64_t i = 1; i <= 2; ++i) {
      window.fetch_add(0, sum_at, i);
      if (window.node() != 0) continue;
      // The platform's wait is for stores of others: this looks until it has the lock.
      window.drive_until([&] { return window.compare_swap(0, lock_at, 0, 1) == 0; });
      std::uint64_t value = 0;
      if (window.fetch_add(0, guarded_at + 8, 1) > 0) value = read_words(window.local() + guarded_at, 1)[0];
      ++value;
      Platform::copy(window.local() + guarded_at, &value, sizeof value);
      window.compare_swap(0, lock_at, 1, 0);
    }
    window.flush();
    if (window.node() == 0) {
      count_in(m, window, counted_at);
      // A comparison that fails is a look at the word.
      const auto size = static_cast<std::uint64_t>(m.size());
      window.drive_until([&] { return window.compare_swap(0, counted_at, 99, 99) == size; });
      expect_notes_of_node_0();
    }
    for (int node = 0; node < window.nodes(); ++node) window.notify(node, run.rank(), 1);
    for (int rank = 0; rank < ranks; ++rank) window.wait_some(rank, 1);
    const auto all = static_cast<std::uint64_t>(ranks);
    run.expect(window.fetch_add(0, sum_at, 0) == 3 * all, "an addition was lost");
    if (window.node() == 0)
      run.expect(read_words(window.local() + guarded_at, 1)[0] == 2 * static_cast<std::uint64_t>(m.size()),
                 "a lock let in two");
    window.close();
  };
}

// Every rank reads from the next node what its ranks have put there, in its segment.
Body gets(SharedNodes nodes) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    Window window(team_of(*nodes), position_of(run.ranks()), most_ids);
    const Words mine = words(run.rank(), 2, 0);
    Platform::copy(window.local() + position_of(run.rank()), mine.data(), block);
    for (int node = 0; node < window.nodes(); ++node) window.notify(node, run.rank(), 1);
    for (int rank = 0; rank < run.ranks(); ++rank) {
      window.wait_some(rank, 1);
      const Buffer target(2);
      window.get(nodes->placement().node_of[static_cast<std::size_t>(rank)], position_of(rank),
                 target.bytes(), block);
      window.flush();
      run.expect(target.values(2) == words(rank, 2, 0), "a get of something else");
    }
    window.close();
    meet(m);
  };
}

// A host's one-sided calls: data, then the word, which it may store twice. Rank 0 plays the host; the others
// take what has come, each value once.
Body a_host_that_stores_twice(SharedNodes nodes) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    constexpr int rounds = 3;
    Window window(team_of(*nodes), block, most_ids, true);
    const auto& landings = window.memory().notifications.landings();
    std::uint64_t taken = 0;
    if (m.rank() == 0) {
      for (std::uint32_t round = 1; round <= rounds; ++round) {
        const Words data = words(0, 2, static_cast<int>(round));
        Platform::copy(window.local(), data.data(), block);
        for (int times = 0; times < 2; ++times)
          landings.arrived()[0].store(simulation::checker::Landings::word(round, round),
                                      std::memory_order_release);
        window.drive_until([&] { return window.peek(1) == round; });  // taken, and said so
      }
    } else {
      window.drive_until([&] {
        const std::uint32_t known = window.peek(1), there = window.test(0);
        run.expect(there == 0 || there > known, "what was taken is there again");
        if (const std::uint32_t value = window.reset(0); value != 0) {
          taken += value;
          run.expect(read_words(window.local(), 2) == words(0, 2, static_cast<int>(value)),
                     "data of another put");
          window.notify(0, 1, value);
        }
        return window.peek(1) == rounds;
      });
      run.expect(window.test(0) == 0, "a notification came twice");
    }
    Platform::copy(run.note(m.rank()), &taken, sizeof taken);
    meet(m);
    std::uint64_t all = 0;
    for (int rank = 0; rank < m.size(); ++rank) all += read_words(run.note(rank), 1)[0];
    run.expect(all == rounds * (rounds + 1) / 2, "a notification was lost or taken twice");
    window.close();
  };
}

// The same without a rank that takes: the rank that sees a notification sees its data.
Body a_host_whose_data_all_see(SharedNodes nodes) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    constexpr std::uint32_t puts = 3;
    Window window(team_of(*nodes), puts * block, most_ids, true);
    const auto& landings = window.memory().notifications.landings();
    for (std::uint32_t id = 0; id < puts; ++id) {
      const Words data = words(0, 2, static_cast<int>(id));
      if (m.rank() == 0) {
        Platform::copy(window.local() + id * block, data.data(), block);
        landings.arrived()[id].store(simulation::checker::Landings::word(1, id + 1),
                                     std::memory_order_release);
      } else if (m.rank() == 1) {
        run.expect(window.wait_some(static_cast<int>(id), 1) == static_cast<int>(id), "another id");
        run.expect(read_words(window.local() + id * block, 2) == data, "old data, found");
      } else {
        window.drive_until([&] { return window.test(static_cast<int>(id)) == id + 1; });
        run.expect(read_words(window.local() + id * block, 2) == data, "old data, tested");
      }
    }
    window.close();
  };
}

}  // namespace

std::vector<Scenario> windows(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, const std::vector<int>& placement, std::size_t bytes,
                       auto body, auto... more) {
    const auto nodes = std::make_shared<const Nodes>(placement, "flat");
    all.push_back(make_over_nodes("window, " + name, nodes, fenced, one, body(nodes, more...),
                                  Window::area_bytes(bytes, most_ids, true)));
  };
  const std::vector<int> together(static_cast<std::size_t>(ranks), 0);
  const auto segment = position_of(ranks);
  for (const auto& placement : {together, in_blocks(ranks), in_turns(ranks), apart(ranks)}) {
    add("all see", placement, segment, all_see_the_data, block);
    add("one gets", placement, segment, one_gets_the_value, 3);
    add("words", placement, 40, words_that_all_change);
    add("gets", placement, segment, gets);
  }
  constexpr std::size_t long_block = (network::longest_inline + 8) / 8 * 8;
  if (ranks <= 3)
    add("all see, long", in_blocks(ranks), long_block * static_cast<std::size_t>(ranks), all_see_the_data,
        long_block);
  add("zero says taken", together, block, zero_says_taken);
  add("a host that stores twice", together, block, a_host_that_stores_twice);
  add("a host whose data all see", together, 3 * block, a_host_whose_data_all_see);
  return all;
}

}  // namespace espalier::testing
