// Base cases on groups' segments: data before the word that says so, by stores and by atomic operations.
#include "simulation/levels/checked_levels.hpp"
#include "tests/simulation/checker/making.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using machine::GroupOperations;
using machine::Levels;
using machine::LevelsLayout;
using machine::OwnGroup;
using machine::Until;

constexpr std::size_t line = 64;

std::size_t part(int place) { return static_cast<std::size_t>(1 + place) * line; }

template <class BaseCase>
void go(Levels& levels, bool up, BaseCase base_case) {
  levels.begin();
  const int count = levels.layout().count();
  for (int i = 0; i < count; ++i)
    if (const OwnGroup* own = levels.own(up ? i : count - 1 - i)) base_case(*own, *own->operations);
  levels.end();
}

// What each rank brings goes up, added up by the leaders, and the sum comes down; stores say what is there.
Body sums(const LevelsLayout& layout, int rounds) {
  return [=](CheckingMachine& m) {
    const auto levels = simulation::checker::checked_levels(layout);
    for (int round = 0; round < rounds; ++round) {
      std::uint64_t value = word(m.rank(), 0, round);
      go(*levels, true, [&](const OwnGroup& own, GroupOperations& group) {
        if (own.place > 0) {
          group.put(part(own.place) + 8, &value, sizeof value);
          return group.store(part(own.place), levels->traversal());
        }
        for (int place = 1; place < static_cast<int>(own.group.members.size()); ++place) {
          std::uint64_t theirs = 0;
          group.wait_until(part(place), Until::at_least, levels->traversal());
          group.get(part(place) + 8, &theirs, sizeof theirs);
          value += theirs;
        }
      });
      go(*levels, false, [&](const OwnGroup& own, GroupOperations& group) {
        if (own.place > 0) {
          group.wait_until(0, Until::equal, levels->traversal());
          return group.get(8, &value, sizeof value);
        }
        group.put(8, &value, sizeof value);
        group.store(0, levels->traversal());
      });
      expect({value}, sum(0, m.size() - 1, 1, round), "a sum over levels");
    }
  };
}

// The last to count goes on for all, having seen what all have put; one looks by load alone.
Body counts_arrivals(const LevelsLayout& layout) {
  return [=](CheckingMachine& m) {
    const auto levels = simulation::checker::checked_levels(layout);
    std::uint64_t value = word(m.rank(), 0, 0);
    go(*levels, true, [&](const OwnGroup& own, GroupOperations& group) {
      const auto size = static_cast<std::uint64_t>(own.group.members.size());
      group.put(part(own.place), &value, sizeof value);
      if (group.fetch_add(0, 1) + 1 != size && own.place == 0) group.wait_until(0, Until::equal, size);
      if (own.place > 0 && group.load(0) != size) return;
      Words all(static_cast<std::size_t>(size));
      for (std::size_t place = 0; place < all.size(); ++place)
        group.get(part(static_cast<int>(place)), &all[place], sizeof value);
      value = 0;
      for (const std::uint64_t each : all) value += each;
    });
    if (m.rank() == 0) Execution::current().expect(value == sum(0, m.size() - 1, 1, 0)[0], "a count");
  };
}

// A lock by compare_swap, which guards plain memory.
Body takes_turns(const LevelsLayout& layout) {
  return [=](CheckingMachine&) {
    const auto levels = simulation::checker::checked_levels(layout);
    go(*levels, false, [&](const OwnGroup& own, GroupOperations& group) {
      while (group.compare_swap(0, 0, 1) != 0) group.wait_until(0, Until::equal, 0);
      std::uint64_t count = 0;
      if (group.fetch_add(16, 1) > 0) group.get(8, &count, sizeof count);
      ++count;
      group.put(8, &count, sizeof count);
      group.compare_swap(0, 1, 0);
      if (own.place > 0) return;
      group.wait_until(16, Until::at_least, own.group.members.size());
      while (group.compare_swap(0, 0, 1) != 0) group.wait_until(0, Until::not_equal, 1);
      group.get(8, &count, sizeof count);
      Execution::current().expect(count == own.group.members.size(), "a lock let in two");
      group.compare_swap(0, 1, 0);
    });
  };
}

}  // namespace

std::vector<Scenario> levels(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto add = [&](const char* name, const topology::Group& groups, int root, auto body, auto... more) {
    const LevelsLayout layout(groups, root, line, line);
    all.push_back(make(formatted("levels, {}, {} root {}", name, layout.text(), root), ranks, fenced, one,
                       body(layout, more...)));
    all.back().area_bytes = layout.bytes();
  };
  const topology::Group flat = topology::flat_group(ranks);
  const topology::Group deep = tree::split_virtual_levels(flat, 2, 2);
  for (const int root : {0, ranks - 1}) {
    add("sums", flat, root, sums, 2);
    if (!(deep == flat)) add("sums", deep, root, sums, 2);
  }
  add("counts", flat, 0, counts_arrivals);
  add("turns", flat, 0, takes_turns);
  return all;
}

}  // namespace espalier::testing
