#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::tree {

// How the members of one group hang together.
//   flat       all others are children of the first
//   kary:K     every member has up to K children, filled level by level (K = 1 is a chain)
//   knomial:K  the tree of radix K, K >= 2: after each step K times as many members are reached; knomial:2 is
//   the
//              binomial tree
//   chain      one after the other
struct Shape {
  enum class Kind { flat, kary, knomial, chain };
  Kind kind = Kind::flat;
  int degree = 0;  // K; 0 where there is none

  static Shape flat() { return {}; }
  static Shape kary(int k) { return {Kind::kary, k}; }
  static Shape knomial(int k) { return {Kind::knomial, k}; }
  static Shape chain() { return {Kind::chain, 0}; }

  friend bool operator==(const Shape&, const Shape&) = default;
};

inline constexpr int max_degree = 1 << 20;

// What a shape may look like in text, for error messages.
inline constexpr std::string_view shape_forms = "flat, kary:K (K from 1), knomial:K (K from 2), chain";

std::string to_string(Shape shape);

// Throws Error that names the text and what is allowed.
Shape parse_shape(std::string_view text);

// RG III-A.3, Fig. 8. Left: deeper subtrees are served first, as trees come when ranks are placed in rising
// order. Right: each node serves its children in the reverse order.
enum class Skew { left, right };

// The children of each of the positions 0..n-1 of a shape, in the order in which they are served; position 0
// is the root and a parent comes before its children. Throws Error when the degree does not fit the kind.
std::vector<std::vector<int>> children_by_position(Shape shape, Skew skew, int n);

}  // namespace espalier::tree
