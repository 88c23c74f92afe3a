// What holds for every machine, every binding, every spec and every root.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "topology/group.hpp"
#include "tree/compose.hpp"

namespace espalier::tree {
namespace {

using topology::CpuSet;
using topology::Domain;
using topology::Group;
using topology::Level;

constexpr unsigned cases = 600;

class Case {
 public:
  explicit Case(unsigned seed) : random_(seed) {
    machine_.source = "made up";
    int cpus = 0;
    machine_.machine = domain(static_cast<int>(Level::machine), cpus);
    collect(machine_.machine);
    affinity.resize(1 + pick(70));
    for (CpuSet& mask : affinity) mask = random_mask();
    group = topology::group_ranks(machine_, affinity);
    spec = random_spec();
    root = static_cast<int>(pick(affinity.size()));
  }

  std::vector<CpuSet> affinity;
  Group group;
  Spec spec;
  int root;

  const topology::Topology& machine() const { return machine_; }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }

  // A domain of this level with lopsided insides; some levels are missing.
  Domain domain(int level, int& cpus) {
    Domain result{static_cast<Level>(level), {}, {}};
    if (level == 0) {
      for (std::size_t threads = 1 + pick(2); threads > 0; --threads) result.cpus.set(cpus++);
      return result;
    }
    int below = level - 1;
    while (below > 0 && pick(3) == 0) --below;
    for (std::size_t children = 1 + pick(3); children > 0; --children) {
      result.children.push_back(domain(below, cpus));
      result.cpus |= result.children.back().cpus;
    }
    return result;
  }

  void collect(const Domain& domain) {
    domains_.push_back(domain.cpus);
    for (const Domain& child : domain.children) collect(child);
  }

  CpuSet random_mask() {
    CpuSet whole = domains_[pick(domains_.size())];
    if (pick(3) == 0) return whole;
    if (pick(20) == 0) return {};
    CpuSet one;
    int cpu = whole.first();
    for (std::size_t steps = pick(static_cast<std::size_t>(whole.count())); steps > 0; --steps)
      cpu = whole.next(cpu);
    one.set(cpu);
    return one;
  }

  Shape random_shape() {
    int degree = 2 + static_cast<int>(pick(6));
    Shape any[] = {Shape::flat(), Shape::kary(degree - 1), Shape::knomial(degree), Shape::chain()};
    return any[pick(4)];
  }

  Spec random_spec() {
    Spec result;
    result.shape = random_shape();
    for (Level level : topology::all_levels) {
      if (pick(2)) result.at(level) = random_shape();
    }
    if (pick(2)) result.virtual_degree = 2 + static_cast<int>(pick(5));
    if (pick(2)) result.leaders = Leaders::last;
    if (pick(2)) result.skew = Skew::right;
    return result;
  }

  std::mt19937 random_;
  topology::Topology machine_;
  std::vector<CpuSet> domains_;
};

template <class Check>
void for_all_cases(Check check) {
  for (unsigned seed = 1; seed <= cases; ++seed) {
    Case c(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", root " << c.root << ", \"" << to_string(c.spec)
                                    << "\", " << topology::print(c.group));
    check(c);
    if (testing::Test::HasFailure()) return;
  }
}

int log_up(int base, int n) {
  int steps = 0;
  for (long long reach = 1; reach < n; reach *= base) ++steps;
  return steps;
}

// Depth and fan-out that a shape over n members may have, by its definition.
std::pair<int, int> bounds(Shape shape, int n) {
  switch (shape.kind) {
    case Shape::Kind::flat:
      return {n > 1 ? 1 : 0, n - 1};
    case Shape::Kind::chain:
      return {n - 1, n > 1 ? 1 : 0};
    case Shape::Kind::kary:
      return {shape.degree == 1 ? n - 1 : log_up(shape.degree, n), shape.degree};
    case Shape::Kind::knomial:
      return {log_up(shape.degree, n), (shape.degree - 1) * log_up(shape.degree, n)};
  }
  return {};
}

// The bounds of a whole composed tree: those of the levels add up along the way from the outermost group to
// the ranks.
std::pair<int, int> bounds(const Group& group, const Spec& spec) {
  auto [deep, wide] =
      bounds(spec.shape_of(group), static_cast<int>(group.groups.size() + group.ranks.size()));
  int deepest = 0, widest = 0;
  for (const Group& inner : group.groups) {
    auto [inner_deep, inner_wide] = bounds(inner, spec);
    deepest = std::max(deepest, inner_deep);
    widest = std::max(widest, inner_wide);
  }
  return {deep + deepest, wide + widest};
}

// Only the leader of a group has its parent outside, and the root leads each of its groups.
void expect_groups_stay_together(const Group& group, const Tree& tree) {
  for (const Group& inner : group.groups) expect_groups_stay_together(inner, tree);
  std::vector<int> inside = topology::members(group);
  auto in = [&](int rank) { return std::binary_search(inside.begin(), inside.end(), rank); };
  std::vector<int> leaders;
  for (int rank : inside) {
    if (!in(tree.parent_of(rank))) leaders.push_back(rank);
  }
  ASSERT_EQ(leaders.size(), 1u);
  EXPECT_EQ(leaders[0], in(tree.root) ? tree.root : inside.front());
  for (int rank : inside) {
    if (rank == leaders[0]) continue;
    for (int below : subtree(tree, rank)) EXPECT_TRUE(in(below)) << below << " below " << rank;
  }
}

void expect_tidy(const Group& group, bool outermost) {
  if (!outermost) {
    EXPECT_GE(topology::members(group).size(), 2u);
  }
  if (group.groups.size() == 1) {
    EXPECT_FALSE(group.ranks.empty());
  }
  EXPECT_TRUE(std::is_sorted(group.ranks.begin(), group.ranks.end()));
  for (std::size_t i = 0; i < group.groups.size(); ++i) {
    expect_tidy(group.groups[i], false);
    if (i > 0) {
      EXPECT_LT(topology::members(group.groups[i - 1]).front(), topology::members(group.groups[i]).front());
    }
  }
}

TEST(RandomMachines, GroupsHoldEachRankOnceAndAreTidy) {
  for_all_cases([](const Case& c) {
    auto all = topology::members(c.group);
    ASSERT_EQ(all.size(), c.affinity.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i));
    expect_tidy(c.group, true);
    expect_tidy(topology::split_virtual(c.group, c.spec.virtual_degree), true);
  });
}

// The smallest domain that holds the masks of all these ranks; the machine when none does.
CpuSet smallest_around(const Domain& domain, const std::vector<CpuSet>& affinity,
                       const std::vector<int>& ranks) {
  for (const Domain& child : domain.children) {
    auto holds = [&](int rank) {
      const CpuSet& mask = affinity[static_cast<std::size_t>(rank)];
      return !mask.empty() && child.cpus.contains(mask);
    };
    if (std::all_of(ranks.begin(), ranks.end(), holds)) return smallest_around(child, affinity, ranks);
  }
  return domain.cpus;
}

void expect_true_to(const Group& group, const Case& c) {
  auto inside = topology::members(group);
  CpuSet around = smallest_around(c.machine().machine, c.affinity, inside);
  // A group is complete: the rank that is bound within its domain is in it.
  for (std::size_t rank = 0; rank < c.affinity.size(); ++rank) {
    bool bound_here = !c.affinity[rank].empty() && around.contains(c.affinity[rank]);
    bool member = std::binary_search(inside.begin(), inside.end(), static_cast<int>(rank));
    EXPECT_TRUE(member || !bound_here) << "rank " << rank;
  }
  for (const Group& inner : group.groups) expect_true_to(inner, c);
}

TEST(RandomMachines, GroupsAreTheDomains) {
  for_all_cases([](const Case& c) { expect_true_to(c.group, c); });
}

TEST(RandomMachines, TreesAreTrees) {
  for_all_cases([](const Case& c) {
    Tree tree = compose(c.group, c.spec, c.root);
    EXPECT_EQ(flaw(tree), std::nullopt);
    EXPECT_EQ(tree.root, c.root);
    EXPECT_EQ(tree.size(), static_cast<int>(c.affinity.size()));
    EXPECT_EQ(subtree(tree, c.root).size(), c.affinity.size());
  });
}

TEST(RandomMachines, DepthAndFanOutAreBoundForAnyRoot) {
  for_all_cases([](const Case& c) {
    auto [deepest, widest] = bounds(topology::split_virtual(c.group, c.spec.virtual_degree), c.spec);
    for (int root = 0; root < static_cast<int>(c.affinity.size()); ++root) {
      Tree tree = compose(c.group, c.spec, root);
      EXPECT_LE(depth(tree), deepest) << "root " << root;
      EXPECT_LE(max_fan_out(tree), widest) << "root " << root;
    }
  });
}

TEST(RandomMachines, DomainsStayTogether) {
  for_all_cases([](const Case& c) {
    expect_groups_stay_together(topology::split_virtual(c.group, c.spec.virtual_degree),
                                compose(c.group, c.spec, c.root));
  });
}

TEST(RandomMachines, LeadersOrderAndSkewChangeNothingButTheOrder) {
  for_all_cases([](Case& c) {
    auto edges = compose(c.group, c.spec, c.root).parent;
    for (Leaders leaders : {Leaders::first, Leaders::last}) {
      for (Skew skew : {Skew::left, Skew::right}) {
        c.spec.leaders = leaders;
        c.spec.skew = skew;
        EXPECT_EQ(compose(c.group, c.spec, c.root).parent, edges);
      }
    }
  });
}

TEST(RandomMachines, ARightSkewOfOneGroupIsTheMirrorImage) {
  for_all_cases([](Case& c) {
    Group flat = topology::flat_group(static_cast<int>(c.affinity.size()));
    c.spec.virtual_degree = 0;
    c.spec.skew = Skew::left;
    Tree left = compose(flat, c.spec, c.root);
    c.spec.skew = Skew::right;
    Tree right = compose(flat, c.spec, c.root);
    for (auto& children : left.children) std::reverse(children.begin(), children.end());
    EXPECT_EQ(left, right);
  });
}

}  // namespace
}  // namespace espalier::tree
