#pragma once

#include <vector>

#include "tree/tree.hpp"

namespace espalier::tree {

// A tree for operators that do not commute: the ranks of every subtree are consecutive, and a rank's children
// stand in rank order with the rank itself among them. So each rank forms
//
//    child[0] op … op child[left-1] op own op child[left] op … op child[last]
//
// out of the results of its children, and at the root the ranks stand in order, whichever rank the root is.
struct ContiguousTree {
  Tree tree;              // children in rank order
  std::vector<int> left;  // how many children of each rank have ranks below its own; they come first

  friend bool operator==(const ContiguousTree&, const ContiguousTree&) = default;
};

// The tree over ranks 0..n-1 in which no rank has more than `fan_out` children. Its depth is at most
// 1 + ceil(log(n) / log(fan_out)): below the root all parts are cut into `fan_out` equal ones, at the root
// the cuts lie on either side of it. Throws Error unless n >= 1, 0 <= root < n and fan_out >= 2 (a root in
// the middle has two sides).
ContiguousTree contiguous(int n, int root, int fan_out);

}  // namespace espalier::tree
