#include "tree/tree.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"

namespace espalier::tree {

namespace {

// The ranks from the root down, parents before children. Visits no more ranks than there are, even on a
// broken tree.
std::vector<int> from_the_root(const Tree& tree) {
  std::vector<int> order;
  if (tree.size() > 0) order.push_back(tree.root);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (int child : tree.children_of(order[i])) {
      if (order.size() < tree.parent.size()) order.push_back(child);
    }
  }
  return order;
}

bool is_rank(const Tree& tree, int rank) { return rank >= 0 && rank < tree.size(); }

}  // namespace

Tree unconnected(int n, int root) {
  auto count = static_cast<std::size_t>(std::max(n, 0));
  return {root, std::vector<int>(count, -1), std::vector<std::vector<int>>(count)};
}

void attach(Tree& tree, int parent, int child) {
  tree.parent[static_cast<std::size_t>(child)] = parent;
  tree.children[static_cast<std::size_t>(parent)].push_back(child);
}

int depth(const Tree& tree) {
  std::vector<int> level(tree.parent.size(), 0);
  int deepest = 0;
  for (int rank : from_the_root(tree)) {
    if (rank == tree.root) continue;
    int own = level[static_cast<std::size_t>(tree.parent_of(rank))] + 1;
    level[static_cast<std::size_t>(rank)] = own;
    deepest = std::max(deepest, own);
  }
  return deepest;
}

int max_fan_out(const Tree& tree) {
  std::size_t widest = 0;
  for (const auto& children : tree.children) widest = std::max(widest, children.size());
  return static_cast<int>(widest);
}

std::vector<int> subtree(const Tree& tree, int rank) {
  std::vector<int> ranks = {rank};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& children = tree.children_of(ranks[i]);
    ranks.insert(ranks.end(), children.begin(), children.end());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::optional<std::string> flaw(const Tree& tree) {
  if (tree.children.size() != tree.parent.size()) return "parents and children are of different number";
  if (tree.parent.empty()) return std::nullopt;
  if (!is_rank(tree, tree.root)) return formatted("the root {} is no rank", tree.root);
  if (tree.parent_of(tree.root) != -1) return formatted("the root {} has a parent", tree.root);
  std::vector<int> served(tree.parent.size(), 0);
  for (int rank = 0; rank < tree.size(); ++rank) {
    if (rank != tree.root && !is_rank(tree, tree.parent_of(rank)))
      return formatted("rank {} has no parent", rank);
    for (int child : tree.children_of(rank)) {
      if (!is_rank(tree, child)) return formatted("rank {} has the child {}, which is no rank", rank, child);
      if (tree.parent_of(child) != rank)
        return formatted("rank {} is not the parent of its child {}", rank, child);
      if (++served[static_cast<std::size_t>(child)] > 1) return formatted("rank {} is served twice", child);
    }
  }
  for (int rank = 0; rank < tree.size(); ++rank) {
    if (rank != tree.root && !served[static_cast<std::size_t>(rank)])
      return formatted("rank {} is not served", rank);
  }
  // Each rank but the root is now served once, so that those not reached from the root go round in circles.
  if (from_the_root(tree).size() != tree.parent.size())
    return "some ranks hang in a circle apart from the root";
  return std::nullopt;
}

std::string print(const Tree& tree) {
  if (tree.parent.empty()) return "()";
  std::string text;
  // Chains may be as deep as the node has ranks: no recursion.
  std::vector<std::pair<int, std::size_t>> open = {{tree.root, 0}};
  text += std::to_string(tree.root);
  while (!open.empty()) {
    auto& [rank, next] = open.back();
    const auto& children = tree.children_of(rank);
    if (next == children.size()) {
      if (!children.empty()) text += ')';
      open.pop_back();
      continue;
    }
    text += next == 0 ? '(' : ' ';
    int child = children[next++];
    text += std::to_string(child);
    open.emplace_back(child, 0);
  }
  return text;
}

}  // namespace espalier::tree
