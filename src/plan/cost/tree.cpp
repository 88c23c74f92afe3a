#include "plan/cost/tree.hpp"

#include <algorithm>
#include <vector>

namespace espalier::plan {
namespace {

// Parents before their children.
std::vector<int> from_root(const tree::Tree& tree) {
  std::vector<int> order = {tree.root};
  for (std::size_t i = 0; i < order.size(); ++i)
    order.insert(order.end(), tree.children_of(order[i]).begin(), tree.children_of(order[i]).end());
  return order;
}

// When a parent has the vectors of children that are ready at these times.
double taken(const Wire& wire, double bytes, std::vector<double> ready) {
  std::sort(ready.begin(), ready.end());
  double last = 0;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const double arrival = ready[i] + hop(wire, bytes);
    last = i == 0 ? arrival : std::max(arrival, last + interval(wire, bytes));
  }
  return last;
}

}  // namespace

Cost tree_down(const tree::Tree& tree, const Wire& wire, double bytes) {
  std::vector<double> arrival(tree.parent.size(), 0);
  Cost cost;
  for (const int rank : from_root(tree)) {
    const std::vector<int>& children = tree.children_of(rank);
    const auto count = static_cast<double>(children.size());
    const double own = arrival[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < children.size(); ++i)
      arrival[static_cast<std::size_t>(children[i])] =
          own + static_cast<double>(i) * interval(wire, bytes) + hop(wire, bytes);
    cost.time = std::max(cost.time, own);
    cost.cpu = std::max(cost.cpu, (count + (rank == tree.root ? 0 : 1)) * wire.overhead);
    cost.port = std::max(cost.port, std::max(1.0, count) * on_port(wire, bytes));
  }
  if (tree.size() == 1) return {};
  cost.rounds = tree::depth(tree);
  return cost;
}

Cost tree_up(const tree::Tree& tree, const Wire& wire, double bytes) {
  if (tree.size() == 1) return {};
  std::vector<double> ready(tree.parent.size(), 0);
  const std::vector<int> order = from_root(tree);
  Cost cost;
  for (auto rank = order.rbegin(); rank != order.rend(); ++rank) {
    const std::vector<int>& children = tree.children_of(*rank);
    const auto count = static_cast<double>(children.size());
    std::vector<double> below;
    below.reserve(children.size());
    for (const int child : children) below.push_back(ready[static_cast<std::size_t>(child)]);
    const double folds = count * fold(wire, bytes).time;
    ready[static_cast<std::size_t>(*rank)] = taken(wire, bytes, below) + folds;
    cost.cpu = std::max(cost.cpu, (count + (*rank == tree.root ? 0 : 1)) * wire.overhead + folds);
    cost.port = std::max(cost.port, std::max(1.0, count) * on_port(wire, bytes));
  }
  cost.time = ready[static_cast<std::size_t>(tree.root)];
  cost.rounds = tree::depth(tree);
  return cost;
}

}  // namespace espalier::plan
