// A tree over ranks, and what can be asked of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace espalier::tree {

// A rooted, ordered tree over the ranks 0..n-1; the tree primitives, release and gather, see nothing else.
struct Tree {
  int root = 0;
  std::vector<int> parent;                 // -1 at the root
  std::vector<std::vector<int>> children;  // in the order in which they are served

  int size() const { return static_cast<int>(parent.size()); }
  const std::vector<int>& children_of(int rank) const { return children[static_cast<std::size_t>(rank)]; }
  int parent_of(int rank) const { return parent[static_cast<std::size_t>(rank)]; }

  friend bool operator==(const Tree&, const Tree&) = default;
};

// A tree of n ranks without edges; attach() adds them.
Tree unconnected(int n, int root);

// Makes `child` the last one that `parent` serves.
void attach(Tree& tree, int parent, int child);

// The number of edges between the root and the farthest rank.
int depth(const Tree& tree);

// The largest number of children.
int max_fan_out(const Tree& tree);

// The rank and all its descendants, in ascending order.
std::vector<int> subtree(const Tree& tree, int rank);

// What is wrong with the tree, if anything. It must have each rank once, one root, parents and children that
// agree, and no cycle.
std::optional<std::string> flaw(const Tree& tree);

// One line: each rank with its children, in the order served, in brackets: 0(4(12 16) 8 1 2 3).
std::string print(const Tree& tree);

}  // namespace espalier::tree
