// Which trees a rank has used: what the composition made of the machine that the ranks stood on.
#pragma once

#include <compare>
#include <set>
#include <string>

#include "tree/spec.hpp"
#include "tree/tree.hpp"

namespace espalier::runtime::statistics {

/// The pair of trees of one plan and root, over ranks that share memory.
struct UsedTrees {
  int size = 0;  ///< ranks
  int root = 0;
  std::string gather_tree, release_tree;  ///< as rules and settings have them
  std::string gather, release;            ///< as they are: 0(1 2(3))
  auto operator<=>(const UsedTrees&) const = default;
};

/// Keeps the trees that a rank has taken its place in; nothing when statistics are off, and of more ranks or more
/// trees than a reader wants. Thread-safe.
void note_trees(const tree::Spec& gather_tree, const tree::Spec& release_tree, const tree::Tree& gather,
                const tree::Tree& release);

/// All that were kept in this process. Thread-safe.
std::set<UsedTrees> used_trees();

}  // namespace espalier::runtime::statistics
