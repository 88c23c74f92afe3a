// One tree for all ranks, from the groups of ranks and the shapes of their trees.
#pragma once

#include "topology/group.hpp"
#include "tree/spec.hpp"
#include "tree/tree.hpp"

namespace espalier::tree {

// One tree out of a tree per group, joined at the leaders (RG III-A.2; OSMP V-C):
//
//  - A group's members are its own ranks and the leaders of its inner groups, in the order of the lowest rank
//    that each stands for. They form a tree of the shape of the group's level, with the spec's skew.
//  - The leader of a group is its lowest rank. But the root leads every group that it is in, and there the
//    order of the members is rotated so that the root comes first. So no root needs more hops than rank 0,
//    and neighbours stay neighbours.
//  - A rank that leads serves the members of its outermost group first or last, as the spec's `leaders` says.
//
// The spec's `levels` and `virtual` are applied to the groups first. The ranks of the group must be 0..n-1
// and hold the root, else throws Error.
Tree compose(const topology::Group& group, const Spec& spec, int root);

}  // namespace espalier::tree
