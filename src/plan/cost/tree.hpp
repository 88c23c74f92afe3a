// What trees cost: down for a bcast, up for a reduce (HIER 3.1, 3.2).
#pragma once

#include "plan/cost/call_cost.hpp"
#include "tree/tree.hpp"

namespace espalier::plan {

/// `bytes` from the root to all: a rank sends to its children one after the other as soon as it has them.
///
/// HIER 3.1 bounds this by (1 + alpha) log2(p) t_inter for a binary tree: each level costs a hop, and for the
/// second child the interval too. Here the way to each rank is added up in the tree that there is.
Cost tree_down(const tree::Tree& tree, const Wire& wire, double bytes);

/// The other way: a rank takes its children's vectors as they come, folds all of them, and sends the result
/// on (HIER 3.2; collective/multinode/network/tree.hpp folds once, when all are there).
Cost tree_up(const tree::Tree& tree, const Wire& wire, double bytes);

}  // namespace espalier::plan
